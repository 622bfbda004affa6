"""Hyper-parameters of compact NPT."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from npt.nn.settings import LearningRate, Updates
from npt.validation import Strict

Count = Annotated[int, Field(ge=1, le=64)]
Rows = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, le=100)]
# One value for each kind of member; the members take the kinds in turn.
Shares = Annotated[list[Share], Field(min_length=1, max_length=8)]
Scales = Annotated[list[Positive], Field(min_length=1, max_length=8)]

BATCHES = 32  # in an epoch, between these bounds of the rows of a batch
SMALLEST_BATCH = 32
LARGEST_BATCH = 256


class CompactSettings(Strict):
    """Architecture, regularisation, training and ensemble of compact NPT.

    Lists hold one value for each kind of member: member k has the value at k modulo their length.
    """

    token_width: int = Field(default=24, ge=1, le=1024)
    """Width of a cell's token."""
    width: int = Field(default=96, ge=1, le=8192)
    """Width of a row between datapoints."""
    layers: Count = 2
    """Blocks of attention between datapoints."""
    heads: int = Field(default=4, ge=1, le=256)
    """Heads of every block."""
    number_embedding: Literal["piecewise", "periodic", "linear"] = "piecewise"
    """Functions of a number that its token is linear in, besides the number itself."""
    bins: int = Field(default=48, ge=1, le=4096)
    """Largest number of quantile bins of a column; number of frequencies, if periodic."""
    bin_scale: Scales = Field(default=[0.15, 0.05, 0.15, 0.05])
    """Standard deviation of the initial weights of these functions, by kind of member."""
    similarity: Literal["distance", "dot"] = "distance"
    """Scores between datapoints: minus the squared distance, or the scalar product."""

    labels_of_others: bool = True
    """Other rows show their labels; without, they show their features alone."""
    between_datapoints: bool = True
    """Rows attend to other rows; without, their blocks keep the feed-forward half."""
    between_attributes: bool = True
    """Attributes attend to each other; without, their blocks keep the feed-forward half."""
    copies: bool = True
    """Predictions are moved by residuals of near rows, if that lowers the validation loss by more
    than a standard error."""
    target_mask: Share | None = None
    """Share of a batch whose labels are hidden and scored; None scores every row, beside the labels
    of the others (leave-one-out)."""
    lookup: Literal["off", "original", "add_one"] = "off"
    """The lookup task (paper section 4.2, Appendix B.1): the context is duplicates of the predicted
    rows, which show their labels; with `add_one`, larger by one standard deviation. In training
    these are the rows of a batch, so that a row may attend to itself. At prediction they are the
    rows of the same part, validation or test, which show the labels that the table has."""

    members: Count = 8
    """Networks with weights of their own, trained at once; predictions are averaged."""
    dropout: Shares = Field(default=[0.1, 0.1, 0.0, 0.3])
    """Dropout of the feed-forward layers, by kind of member."""
    feature_mask: Shares = Field(default=[0.03, 0.03, 0.0, 0.15])
    """Share of the feature cells that are hidden in an update, by kind of member."""
    context_dropout: Share = 0.1
    """Share of the other rows that no row attends to in an update; none with `target_mask`."""
    weight_decay: float = Field(default=0.1, ge=0, le=100)
    """Decoupled weight decay of matrices and of embeddings of bins and levels."""

    updates: Updates = 600
    """Most training steps."""
    patience: Updates = 300
    """Training stops after so many updates in which no member improved on the validation rows."""
    evaluate_every: Updates = 25
    """Updates between two evaluations on the validation rows."""
    evaluated_rows: Rows = 2048
    """Largest number of validation rows of an evaluation, drawn at random."""
    batch_rows: int | None = Field(default=None, ge=2)
    """Fewest train rows of a batch, into which an epoch is cut evenly; None takes a 32nd of them,
    but between 32 and 256."""
    learning_rate: LearningRate = 2e-3
    """Peak learning rate of AdamW."""
    rate_scale: Scales = Field(default=[1.0, 0.25, 1.0, 0.25])
    """Learning rate relative to the peak, by kind of member."""
    warmup: Share = 0.05
    """Share of the updates with a rising learning rate; then it falls to 0 by a cosine."""
    weight_average: Share = 0.98
    """Decay of the exponential moving average of the weights, which alone is evaluated."""
    clip: float = Field(default=1.0, gt=0, le=1e9)
    """Bound on the norm of a member's gradients, as a root mean square over the members."""

    context_rows: Rows | None = 2048
    """Largest number of train rows, drawn at random, that a predicted row attends to; the lookup
    task has all rows of a part."""
    transductive: bool = True
    """Features of validation and test rows are in the standardisation and the quantiles."""

    def batch_size(self, train_rows: int) -> int:
        """Fewest rows of a training batch."""
        size = self.batch_rows or min(max(train_rows // BATCHES, SMALLEST_BATCH), LARGEST_BATCH)
        return min(size, train_rows)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in ("width", "token_width"):
            width = getattr(self, name)
            if width % self.heads:
                raise ValueError(f"{name}: {width} is not a multiple of heads ({self.heads})")
        if self.lookup != "off" and self.target_mask is not None:
            raise ValueError(f"target_mask: {self.target_mask}; must be null with lookup")
        return self
