"""Hyper-parameters of NPT; the defaults are the paper's (Appendix C, E)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from npt.validation import Strict

Precision = Literal["float32", "tf32", "bfloat16", "auto"]
Schedule = Literal["flat_then_cosine", "polynomial", "cosine_cyclic", "constant"]
Kernel = Literal["dot", "l2", "l2_tied", "l2_contractive", "span"]
LayerNorm = Literal["standard", "centre", "none"]
TIED_KERNELS: tuple[Kernel, ...] = ("l2_tied", "l2_contractive")
Lookup = Literal[
    "off",
    "original",
    "random_features",
    "add_one",
    "random_features_add_one",
    "released_random_features",
    "released_add_one",
    "released_random_features_add_one",
]

Width = Annotated[int, Field(ge=1, le=65536)]
Count = Annotated[int, Field(ge=1, le=1024)]
Updates = Annotated[int, Field(ge=1, le=10**9)]
LearningRate = Annotated[float, Field(gt=0, le=10)]
Bound = Annotated[float, Field(ge=0, le=1e9)]
Threshold = Annotated[float, Field(gt=0, lt=1)]
Fraction = Annotated[float, Field(ge=0, le=1)]
DropoutRate = Annotated[float, Field(ge=0, le=0.99)]


class PixelSettings(Strict):
    """Attention between pixels, the encoder `siren` (Alfons 2022, thesis)."""

    dimensions: Literal[1, 2] = 2
    """Pixels as one sequence, or in rows and columns."""
    positions: Literal["sinusoids", "siren"] = "siren"
    """Relative positions by a SIREN, or in one dimension by a linear layer on sinusoids."""
    span: bool = False
    """Scores are multiplied by a learned Gaussian of the relative position."""
    threshold: Threshold | None = None
    """Pixels whose Gaussian is smaller, in one dimension, are not attended to."""
    pool: Literal["last", "mean"] = "last"
    """The vector of an image is its last pixel's, or the mean over its pixels."""

    @model_validator(mode="after")
    def _check_positions(self) -> Self:
        if self.positions == "sinusoids" and self.dimensions == 2:
            raise ValueError("positions: sinusoids have 1 dimension; dimensions is 2")
        if self.threshold is not None and not self.span:
            raise ValueError("threshold: is for a span, which is off")
        return self


class NPTSettings(Strict):
    """Architecture, masking, optimisation and evaluation of one NPT."""

    width: Width = 64
    """Width e of one column's embedding; a block between datapoints has width d * e."""
    layers: Count = 8
    """Blocks, alternately between datapoints and between attributes."""
    heads: Count = 8
    """Attention heads of a block."""
    feed_forward: int = Field(default=4, ge=1, le=64)
    """Width of the feed-forward layer, in multiples of the block's."""
    attention_dropout: DropoutRate = 0.1
    """Dropout rate of attention probabilities."""
    hidden_dropout: DropoutRate = 0.1
    """Dropout rate of activations."""
    kernel: Kernel = "dot"
    """Scores of attention: dot products, or negative squared distances with keys of their own or
    with those tied to the queries, which has a Lipschitz constant, or scaled to
    `contraction`. With `span`, a learned Gaussian of the distance of two rows' features is joined
    to dot products between datapoints."""
    contraction: Bound = 0.9
    """Bound of the Lipschitz constant of attention with the kernel l2_contractive, in the maximum
    or the Euclidean norm, whichever has the smaller bound. Below 1 the sum of input and attention
    can be inverted; 0 leaves attention out."""
    span: float = Field(default=1.0, gt=0, le=1e6)
    """First sigma of a column's span, in standard deviations times the root of the number of
    feature columns."""
    span_threshold: Threshold | None = None
    """Rows whose Gaussian is smaller are not attended to, but for the nearest."""
    span_form: Literal["added", "multiplied"] = "added"
    """The logarithm of the Gaussian is added to the scores, or the Gaussian is multiplied with
    them, which moves scores of distant rows to 0."""
    layer_norm: LayerNorm = "standard"
    """LayerNorm in the blocks, its centring alone, or none; the last two have useful
    Lipschitz constants."""
    layer_norm_on: Literal["query", "all"] = "query"
    """Input of LayerNorm in a block: the queries alone, or keys and values too, as tied
    kernels always have."""
    residual_start: Literal["random", "identity"] = "random"
    """First weights of a block's projected residual. Random ones shrink the signal from block to
    block, so that deep networks hardly train."""
    between_datapoints: bool = True
    """Blocks between datapoints; without them, half the blocks remain."""
    attends_to: Literal["all", "self"] = "all"
    """Rows that blocks between datapoints attend to: all, or `self`, each to itself alone. The
    network has the same layers, but its queries and keys have no effect, apart from values that
    tied kernels make of them: every attention weight is
    1, and none is dropped."""
    between_attributes: bool = True
    """Blocks between attributes; without them, half the blocks remain."""
    output: Literal["mean", "gaussian"] = "mean"
    """What is predicted of a continuous target: its mean, by squared error, or a Gaussian, by
    likelihood."""
    encoder: Literal["linear", "resnet18", "siren"] = "linear"
    """Images as linear patches, each a token; or each as one token, by a ResNet-18 or by attention
    between its pixels."""
    pixels: PixelSettings = PixelSettings()
    """The encoder siren."""
    pooling: Count = 1
    """Pixels are averaged over squares of this side before an encoder that is not linear."""
    patch: Width = 4
    """Side of an image's patches in pixels; each patch is a token."""
    patch_shape: Literal["square", "strip"] = "square"
    """Squares, or runs of as many intensities in a row, as in the released code."""
    augment: bool = False
    """Random crops and reflections of train images."""
    lookup: Lookup = "off"
    """Duplicates of the rows that show targets of the mode's own rows (`duplicates.py`)."""

    feature_mask: Fraction = 0.15
    """Fraction of feature cells that are masked in training."""
    target_mask: float = Field(default=1.0, gt=0, le=1)
    """Fraction of train targets that are masked in training; 1 hides all targets always."""
    validation_labels_at_test: bool = True
    """Validation targets are shown when test rows are predicted."""
    own_rows: bool = False
    """Batches of train, validation and test rows each have rows of this part alone."""
    transductive: bool = True
    """Features of validation and test rows are in the training input and its standardisation."""
    tradeoff: Literal["cosine", "constant"] = "cosine"
    """Schedule of the weight of the feature loss."""
    tradeoff_start: Fraction = 1.0
    """First weight of the feature loss."""

    updates: Updates = 100_000
    """Training steps."""
    batch_rows: int | None = Field(default=None, ge=3)
    """Largest number of rows of a minibatch; None takes the whole table."""
    evaluation_rows: int | None = Field(default=None, ge=2)
    """Largest number of rows of a batch in evaluation; None takes that of a minibatch."""
    class_balanced: bool = False
    """Every minibatch has the classes' train rows in proportion."""
    optimiser: Literal["lamb", "adam"] = "lamb"
    """Optimiser inside Lookahead; the paper's is LAMB."""
    learning_rate: LearningRate = 1e-3
    """Peak learning rate."""
    schedule: Schedule = "flat_then_cosine"
    """Schedule of the learning rate."""
    schedule_share: Fraction = 0.7
    """Flat fraction of flat_then_cosine; warm-up fraction of polynomial and cosine_cyclic."""
    clip: Bound = 1.0
    """Bound on the absolute value of a gradient's elements."""
    lookahead_steps: int = Field(default=6, ge=1, le=10**6)
    """Updates between two updates of Lookahead's slow weights."""
    lookahead_share: Fraction = 0.5
    """Step of the slow weights, as a fraction of their distance to the fast ones."""
    evaluate_every: Updates = 1
    """Epochs between validation passes."""
    first_sync: bool = False
    """Slow weights start at Lookahead's first synchronisation, as in the released code."""
    repeated_batches: Count = 1
    """Consecutive updates on one batch with one draw of masks; the released code takes as many as
    it has loader processes, and an epoch is as many times longer."""

    precision: Precision = "float32"
    """Precision of matrix products; the paper's is float32, and tf32 is for GPUs. With `auto`,
    bfloat16 where the device has instructions for it, and float32 elsewhere."""
    recompute_activations: Literal["auto", "always", "never"] = "auto"
    """Activations are recomputed in the backward pass; changes speed and memory only."""

    @property
    def over_rows(self) -> list[bool]:
        """Which blocks attend between datapoints: without one kind, the other's half remains."""
        half = max(1, self.layers // 2)
        if self.between_datapoints and self.between_attributes:
            return [index % 2 == 0 for index in range(self.layers)]
        if self.between_datapoints or self.between_attributes:
            return [self.between_datapoints] * half
        return []

    @property
    def attends_to_others(self) -> bool:
        """Whether a row's prediction can depend on other rows."""
        return self.between_datapoints and self.attends_to == "all"

    @model_validator(mode="after")
    def _check(self) -> Self:
        for is_wrong, error in self._errors():
            if is_wrong:
                raise ValueError(error)
        return self

    def _errors(self) -> Iterator[tuple[bool, str]]:
        """What is wrong with keys that depend on other keys."""
        alternates = self.between_datapoints and self.between_attributes
        to_itself = self.attends_to == "self"
        is_span = self.kernel == "span"
        hides_all = self.own_rows or self.lookup != "off"
        is_constant = self.tradeoff == "constant"
        yield self.width % self.heads > 0, f"width: {self.width} is not a multiple of heads"
        yield alternates and self.layers % 2 > 0, "layers: must be even, as two kinds alternate"
        yield (
            to_itself and not self.between_datapoints,
            "attends_to: self needs between_datapoints",
        )
        yield self.own_rows and self.transductive, "transductive: must be false with own_rows"
        yield (
            hides_all and self.target_mask != 1,
            "target_mask: must be 1 with own_rows or lookup",
        )
        yield is_span and not self.attends_to_others, "kernel: span is for attention to other rows"
        yield self.span_threshold is not None and not is_span, "span_threshold: is for kernel span"
        yield self.span_form != "added" and not is_span, "span_form: is for kernel span"
        yield is_constant and self.tradeoff_start == 1, "tradeoff_start: 1 leaves targets no weight"
        is_unmasked = self.feature_mask == 0 and self.tradeoff_start > 0
        yield is_unmasked, "tradeoff_start: must be 0 if feature_mask is 0: no feature is scored"
        if self.encoder == "linear":
            has_blocks = self.between_datapoints or self.between_attributes
            yield not has_blocks, "between_datapoints, between_attributes: one must be true"
            yield self.pooling != 1, "pooling: must be 1 with the encoder linear"
            return
        reason = f"with the encoder {self.encoder}, whose images are one token"
        yield self.between_attributes, f"between_attributes: must be false {reason}"
        yield self.feature_mask != 0, f"feature_mask: must be 0 {reason}"
        yield self.target_mask != 1, f"target_mask: must be 1 {reason}"
