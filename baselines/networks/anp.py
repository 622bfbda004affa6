"""The network of an attentive neural process on a single table.

n queries, m context rows, F features, K classes (1 for a regression), W width, S draws of the
latent variable.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from baselines.grids import Parameters
from baselines.networks.retrieval import RetrievalNetwork
from npt.nn.gaussian import Gaussians
from npt.processes.neural_process import NeuralProcess, latent_draws
from npt.processes.settings import AttentiveSettings


class ANPNetwork(RetrievalNetwork):
    """A deterministic path with attention, a latent path, and a decoder.

    Args:
        features: Number of features.
        parameters: `width`, `reads`, `context_labels` and `draws`.

    Attributes:
        noise: Standard normal numbers (S, W), which every prediction shares.
    """

    noise: Tensor

    def __init__(self, features: int, classes: int | None, parameters: Parameters) -> None:
        super().__init__(classes)
        width = parameters["width"]
        settings = AttentiveSettings(width=width)
        self.reads = parameters["reads"]
        self.context_labels = parameters["context_labels"]
        self.process = NeuralProcess(features, settings, classes or 1, classes or 2)
        noise = torch.randn(parameters["draws"], width)
        self.register_buffer("noise", noise)

    def retrieved(self, features: Tensor, stored: Tensor) -> Tensor:
        """Mean (n, m) over the heads of the attention to the context."""
        if not self.reads:
            return features.new_zeros(len(features), len(stored))
        weights = self.process.attention.weights(stored[None], features[None])  # (1, H, n, m)
        return weights[0].mean(0)

    def forward(
        self,
        features: Tensor,
        stored: Tensor,
        labels: Tensor,
        self_index: Tensor | None = None,
    ) -> Tensor:
        """Log-probabilities (n, K), or values (n, 1), averaged over the draws.

        A query among its own stored rows reads its own label (`self_index` is not used): a process
        reproduces its context.
        """
        prior = self.latent_of(stored, labels)
        z = prior.mean + prior.stddev * self.noise[:, None]  # (S, 1, W)
        outputs = self.decoded(features, stored, labels, z)  # (S, n, outputs)
        if self.classes is None:
            return outputs[..., :1].mean(0)
        probabilities = outputs.softmax(-1).mean(0)  # (n, K)
        return probabilities.log()

    def latent_of(self, stored: Tensor, labels: Tensor) -> Normal:
        """q(z) (1, W) given rows (m, F) and their labels (m,)."""
        latent_encoder: Any = self.process.latent_encoder
        return latent_encoder(self._pairs(stored, labels)[None])

    def decoded(self, features: Tensor, stored: Tensor, labels: Tensor, z: Tensor) -> Tensor:
        """Outputs (S, n, 2 or K) of queries (n, F), given a context and draws (S, 1, W)."""
        encoded = self.process.encoder(self._pairs(stored, labels)[None])  # (1, m, W)
        if not self.reads:  # the attention of zeros is zero: it has no biases
            encoded = torch.zeros_like(encoded)
            z = torch.zeros_like(z)
        return self.process.outputs(stored[None], encoded, features[None], z)[:, 0]

    def batch_loss(self, batch: Tensor, features: Tensor, labels: Tensor, most: int) -> Tensor:
        """Mean over rows of KL(q(z|T) || q(z|C)) / |T| - log p(y).

        The targets T are the batch and a random context C.
        """
        points, context = training_points(batch, len(features), most)
        features = features[points]
        labels = labels[points]
        stored = features[:context]
        stored_labels = labels[:context]
        posterior = self.latent_of(features, labels)
        prior = self.latent_of(stored, stored_labels)
        z = latent_draws(posterior, 1, None)  # (1, 1, W)
        outputs = self.decoded(features, stored, stored_labels, z)
        divergence = kl_divergence(posterior, prior).sum() / len(features)
        if not self.reads:
            divergence = torch.zeros_like(divergence)
        if self.classes is None:
            gaussians = Gaussians.from_outputs(outputs[:, None])  # (1, 1, n)
            return divergence - gaussians.log_densities(labels[None]).mean()
        return divergence + F.cross_entropy(outputs[0], labels.long())

    def _pairs(self, stored: Tensor, labels: Tensor) -> Tensor:
        """Features and labels as one (m, F + K)."""
        values = self.label_values(labels)  # (m, K)
        if not self.context_labels:
            values = torch.zeros_like(values)
        return torch.cat([stored, values], -1)


def training_points(batch: Tensor, rows: int, most: int) -> tuple[Tensor, int]:
    """Targets of an update, and how many of them, from the first, are the context.

    The context is a random number of train rows outside the batch, which follows it. If the batch
    is all train rows, it is a part of them.
    """
    is_free = torch.ones(rows, dtype=torch.bool)
    is_free[batch] = False
    free = is_free.nonzero()[:, 0]
    if not len(free):
        return torch.randperm(rows), _random_count(min(rows - 1, most))
    order = torch.randperm(len(free))
    count = _random_count(min(len(free), most))
    context = free[order[:count]]
    return torch.cat([context, batch]), count


def _random_count(most: int) -> int:
    """A random number from 1 to `most`."""
    return int(torch.randint(1, most + 1, ()))
