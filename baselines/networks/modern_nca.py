"""The network of ModernNCA (Ye et al. 2025, section 4)."""

from __future__ import annotations

from torch import Tensor, nn

from baselines.grids import Parameters
from baselines.networks.retrieval import RetrievalNetwork, without_self

LEAST_PROBABILITY = 1e-6  # of a class that no retrieved row has
LEAST_SQUARE = 1e-10  # of a distance, whose root has no gradient at 0


class ModernNCANetwork(RetrievalNetwork):
    """Embeds rows; the softmax of minus their distances weighs the stored labels.

    Args:
        features: Number of features.
        parameters: `width`, `blocks`, `block_width` and `dropout`.
    """

    def __init__(self, features: int, classes: int | None, parameters: Parameters) -> None:
        super().__init__(classes)
        width = parameters["width"]
        self.embedding = nn.Linear(features, width)
        self.blocks = nn.ModuleList()
        for _ in range(parameters["blocks"]):
            block = nn.Sequential(
                nn.BatchNorm1d(width),
                nn.Linear(width, parameters["block_width"]),
                nn.ReLU(),
                nn.Dropout(parameters["dropout"]),
                nn.Linear(parameters["block_width"], width),
            )
            self.blocks.append(block)

    def embedded(self, features: Tensor) -> Tensor:
        """Embeddings (n, width)."""
        x = self.embedding(features)
        for block in self.blocks:
            x = x + block(x)
        return x

    def retrieved(
        self, features: Tensor, stored: Tensor, self_index: Tensor | None = None
    ) -> Tensor:
        """Softmax (n, m) of minus the distances."""
        queries = self.embedded(features)
        squared = self.squared_distances(queries, self.embedded(stored))
        distances = squared.clamp_min(LEAST_SQUARE).sqrt()
        return without_self(-distances, self_index).softmax(1)

    def forward(
        self, features: Tensor, stored: Tensor, labels: Tensor, self_index: Tensor | None = None
    ) -> Tensor:
        """Log-probabilities (n, K), or values (n, 1)."""
        votes = self.retrieved(features, stored, self_index) @ self.label_values(labels)
        if self.classes is None:
            return votes
        votes = votes + LEAST_PROBABILITY
        return (votes / votes.sum(1, keepdim=True)).log()
