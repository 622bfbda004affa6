"""Hyper-parameters of neural processes, and of NPT as one."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from npt.nn.settings import Count, LearningRate, NPTSettings, Updates, Width
from npt.validation import Strict

Attention = Literal["uniform", "laplace", "dot_product", "multihead"]
Kernel = Literal["rbf", "matern", "periodic"]
HEADS = 8  # of multihead attention


class TrainingSettings(Strict):
    """Training on tasks with random contexts; the defaults are those of Kim et al. 2019."""

    curves: Kernel | None = "rbf"
    """Kernel of the curves that are drawn anew for every update; without, the training takes those
    tables of the dataset that have neither validation nor test rows."""
    fewest_context: int = Field(default=3, ge=1, le=10**6)
    """Smallest number of context points."""
    most_points: int = Field(default=49, ge=2, le=10**6)
    """Largest number of context points, and of targets, which include the context."""
    batch_tables: int = Field(default=16, ge=1, le=10**6)
    """Tables of an update."""
    updates: Updates = 100_000
    """Training steps of Adam."""
    learning_rate: LearningRate = 1e-4
    """First learning rate."""
    schedule: Literal["constant", "cosine"] = "constant"
    """The learning rate stays, or falls to zero as a half cosine."""
    evaluate_every: Updates = 500
    """Updates between two evaluations on the validation tables."""
    draws: int = Field(default=50, ge=1, le=10**4)
    """Draws of the latent variable for a prediction."""

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        if self.fewest_context > self.most_points:
            raise ValueError(
                f"fewest_context: {self.fewest_context} is above most_points ({self.most_points})"
            )
        return self


class NeuralProcessSettings(TrainingSettings):
    """Architecture and training of a neural process."""

    width: Width = 128
    """Width of all hidden layers, of the representations, and of the latent variable."""
    attention: Attention = "uniform"
    """How a target weighs the context; `uniform` is a neural process without attention."""
    latent: bool = True
    """A latent variable besides the deterministic path; without, the process is conditional."""

    @model_validator(mode="after")
    def _check_heads(self) -> Self:
        if self.attention == "multihead" and self.width % HEADS:
            raise ValueError(f"width: {self.width} is not a multiple of {HEADS} heads")
        return self


class ConditionalSettings(NeuralProcessSettings):
    """A conditional neural process: without a latent variable."""

    latent: bool = False
    """A latent variable besides the deterministic path."""


class AttentiveSettings(NeuralProcessSettings):
    """An attentive neural process."""

    attention: Attention = "multihead"
    """How a target weighs the context."""


class NPTProcessSettings(TrainingSettings):
    """Architecture and training of NPT on many tables."""

    width: Width = 32
    """Width e of one column's embedding; a block between datapoints has width (d + 1) * e."""
    layers: Count = 8
    """Blocks, alternately between datapoints and between attributes."""
    heads: Count = 4
    """Attention heads of a block."""
    among_queries: bool = True
    """Targets attend to each other, as in NPT; without, to the context alone, which is a
    Transformer neural process."""

    @property
    def network(self) -> NPTSettings:
        """Settings of the network; nothing is dropped out, since curves are drawn anew."""
        return NPTSettings(
            width=self.width,
            layers=self.layers,
            heads=self.heads,
            attention_dropout=0.0,
            hidden_dropout=0.0,
            output="gaussian",
        )

    @model_validator(mode="after")
    def _check_network(self) -> Self:
        assert self.network
        return self
