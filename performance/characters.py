"""What each step from dot products to contractive attention costs a language model of characters.

After the last experiment of Kim, Papamakarios and Mnih (2021), with Milton's Paradise Lost, which
is in the public domain, instead of the Penn Treebank. One causal Transformer block; the last tenth
of the text validates.
"""

from __future__ import annotations

import math
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from npt.nn.block import Block, TiedBlock
from npt.nn.kernels.attention import by_head, fused
from npt.nn.settings import NPTSettings
from performance.machine import parser, report, seconds, start

URL = "https://files.pythonhosted.org/packages/2f/c2/f9e977608bdf958650638c3f1e28f85a1b075f075ebbe77db8555463787b/Brotli-1.1.0.tar.gz"
SHA256 = "81de08ac11bcb85841e440c13611c00b67d3bf82698314928d0b676362546724"
MEMBER = "Brotli-1.1.0/tests/testdata/plrabn12.txt"
WIDTH = 128
HEADS = 8
CONTEXT = 64  # characters
BATCH = 32
RATE = 0.002
UPDATES = 2000
SEEDS = 3


class CausalBlock(Block):
    """A block whose positions attend to themselves and earlier ones."""

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, *_: Any) -> Tensor:
        """Attention of all positions (B, s, M) up to them: (B, s, M)."""
        features = self.features(queries, keys)
        attended = fused(*features, by_head(values, self.heads), scale=self.scale, is_causal=True)
        return attended.transpose(-2, -3).flatten(-2)


class CausalTiedBlock(CausalBlock, TiedBlock):
    """The same with the queries as keys, and values x A W^V."""


class PlainValuesBlock(CausalTiedBlock):
    """The same with values x W^V, and fewer weights than with keys of their own."""

    def project(self, x: Tensor, rows: Tensor | None = None) -> list[Tensor]:
        """Queries, keys, values and residual (B, s, M)."""
        queries, keys, _, residual = super().project(x, rows)
        return [queries, keys, self.value(self.norm_attention(x)), residual]


STEPS: dict[str, tuple[type[Block], dict[str, Any]]] = {
    "dot products": (CausalBlock, {"kernel": "dot"}),
    "L2": (CausalBlock, {"kernel": "l2"}),
    "keys are queries": (PlainValuesBlock, {"kernel": "l2_tied"}),
    "values x A W^V": (CausalTiedBlock, {"kernel": "l2_tied"}),
    "divided by its bound": (CausalTiedBlock, {"kernel": "l2_contractive"}),
}


class LanguageModel(nn.Module):
    """Logits of the next character from the characters up to each position."""

    def __init__(self, characters: int, block: type[Block], settings: dict[str, Any]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, WIDTH)
        self.positions = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        dropout = {"attention_dropout": 0.0, "hidden_dropout": 0.0}
        self.block = block(WIDTH, NPTSettings(heads=HEADS, **dropout, **settings))
        self.output = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters))

    def forward(self, text: Tensor) -> Tensor:
        """Logits (B, s, characters) of character codes (B, s)."""
        return self.output(self.block(self.embedding(text) + self.positions))

    def bits(self, windows: Tensor) -> Tensor:
        """Bits per character of windows (B, s + 1), each predicted from those before it."""
        logits = self(windows[:, :-1]).flatten(0, 1)
        return nn.functional.cross_entropy(logits, windows[:, 1:].flatten()) / math.log(2)


def main() -> None:
    """Command line of the study."""
    arguments = start(parser(__doc__))
    _, codes = np.unique(list(paradise_lost()), return_inverse=True)
    text = torch.from_numpy(codes).to(arguments.device)
    report(arguments, list(measured(text)))


def paradise_lost() -> str:
    """Milton's Paradise Lost (10,600 lines), a test file of the package Brotli.

    Raises:
        RuntimeError: The archive is another.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "archive")
        torch.hub.download_url_to_file(URL, str(path), SHA256)
        with tarfile.open(path) as archive:
            text: Any = archive.extractfile(MEMBER)
            return text.read().decode("ascii", errors="replace")


def measured(text: Tensor) -> Iterator[dict[str, Any]]:
    """Validation bits per character of each step and seed, and of counts, from codes of a text."""
    split = len(text) * 9 // 10
    train, validation = text[:split], text[split:]
    yield {"attention": "counts of pairs", "bits": pair_bits(train, validation)}
    windows = validation.unfold(0, CONTEXT + 1, CONTEXT)
    for step, (block, settings) in STEPS.items():
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            model = LanguageModel(int(text.max()) + 1, block, settings).to(text.device)
            spent = seconds(partial(train_model, model, train))
            with torch.no_grad():
                bits = float(model.bits(windows))
            yield {"attention": step, "seed": seed, "bits": bits, "seconds": spent}


def train_model(model: LanguageModel, text: Tensor) -> None:
    """Adam on random windows, with a rate that falls to zero along a cosine."""
    optimiser = torch.optim.Adam(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, UPDATES)
    windows = text.unfold(0, CONTEXT + 1, 1)
    for _ in range(UPDATES):
        loss = model.bits(windows[torch.randint(len(windows), (BATCH,))])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimiser.step()
        schedule.step()


def pair_bits(train: Tensor, validation: Tensor) -> float:
    """Bits per character given the one before it, by counts of pairs, plus one."""
    size = int(max(train.max(), validation.max())) + 1
    counts = torch.ones(size, size, device=train.device)
    counts.index_put_((train[:-1], train[1:]), counts[0, 0].clone(), accumulate=True)
    probabilities = counts / counts.sum(1, keepdim=True)
    return float(-probabilities[validation[:-1], validation[1:]].log2().mean())


if __name__ == "__main__":
    main()
