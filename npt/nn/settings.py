"""What can be chosen about NPT; the defaults are the paper's (Appendix C, E)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from npt.interface import UserError

Precision = Literal["float32", "tf32", "bfloat16"]
Recompute = Literal["auto", "always", "never"]
Schedule = Literal["flat_then_cosine", "polynomial", "cosine_cyclic", "linear_warmup", "constant"]
Tradeoff = Literal["cosine", "constant"]
NormOn = Literal["query", "all"]
PatchShape = Literal["square", "strip"]
Lookup = Literal[
    "off", "original", "random_features", "add_one", "random_features_add_one", "released_random_features",
    "released_add_one", "released_random_features_add_one",
]  # fmt: skip
CHOICES = {
    "schedule": get_args(Schedule),
    "tradeoff": get_args(Tradeoff),
    "layer_norm_on": get_args(NormOn),
    "patch_shape": get_args(PatchShape),
    "lookup": get_args(Lookup),
    "precision": get_args(Precision),
    "recompute_activations": get_args(Recompute),
}


@dataclass(frozen=True)
class NPTSettings:
    """Architecture, masking, optimisation and evaluation of one NPT.

    `width` is the width e of one column's embedding; a datapoint attention block has width d * e. `batch_rows` bounds the
    rows of a minibatch (None: the whole table). `schedule_share` is the flat share of flat_then_cosine and the warm-up
    share of the other schedules. `target_mask` is the share of train targets hidden in training: 1 hides all targets
    always. Images are cut into patches of `patch` x `patch` pixels, each a token; a `strip` is as many intensities in a row,
    as in the released code; `augment` crops and mirrors the train images of every batch. With `lookup`, every batch has its
    rows twice, the second time with the targets of the mode's own rows (see `npt/nn/duplicates.py`). `evaluate_every` counts epochs
    between validation passes. `precision` is that of matrix products (the paper's is float32; tf32 means something on a GPU
    alone); `deterministic` has a GPU give the same bits on every run, as a CPU does. `compile` has torch compile the blocks,
    and `recompute_activations` has the backward pass make them again where they would not fit: both change the speed and the
    memory, not the function.
    """

    width: int = 64
    layers: int = 8
    heads: int = 8
    feed_forward: int = 4
    attention_dropout: float = 0.1
    hidden_dropout: float = 0.1
    layer_norm_on: NormOn = "query"
    between_datapoints: bool = True
    between_attributes: bool = True
    patch: int = 4
    patch_shape: PatchShape = "square"
    augment: bool = False
    lookup: Lookup = "off"

    feature_mask: float = 0.15
    target_mask: float = 1.0
    validation_labels_at_test: bool = True
    transductive: bool = True
    tradeoff: Tradeoff = "cosine"
    tradeoff_start: float = 1.0

    updates: int = 100_000
    batch_rows: int | None = None
    class_balanced: bool = False
    learning_rate: float = 1e-3
    schedule: Schedule = "flat_then_cosine"
    schedule_share: float = 0.7
    clip: float = 1.0
    lookahead_steps: int = 6
    lookahead_share: float = 0.5
    evaluate_every: int = 1

    precision: Precision = "float32"
    deterministic: bool = True
    compile: bool = False
    recompute_activations: Recompute = "auto"

    def __post_init__(self) -> None:
        limits: dict[str, tuple[float, float]] = {
            "width": (1, 65536), "layers": (1, 1024), "heads": (1, 1024), "feed_forward": (1, 64),
            "attention_dropout": (0, 0.99), "hidden_dropout": (0, 0.99), "feature_mask": (0, 1), "target_mask": (0, 1),
            "tradeoff_start": (0, 1), "updates": (1, 10**9), "learning_rate": (0, 10), "schedule_share": (0, 1),
            "clip": (0, 1e9), "patch": (1, 65536), "evaluate_every": (1, 10**9), "lookahead_steps": (1, 10**6),
            "lookahead_share": (0, 1),
        }  # fmt: skip
        for key, allowed in CHOICES.items():
            if getattr(self, key) not in allowed:
                raise UserError(
                    f"{key}: {getattr(self, key)!r} is unknown; allowed: {', '.join(allowed)}"
                )
        for declared in fields(self):
            _check_type(declared.name, getattr(self, declared.name), declared.default)
        for key, (low, high) in limits.items():
            if not low <= getattr(self, key) <= high:
                raise UserError(f"{key}: {getattr(self, key)} is outside {low:g} to {high:g}")
        if self.batch_rows is not None and self.batch_rows < 3:
            raise UserError(
                f"batch_rows: {self.batch_rows} is below 3 (null takes the whole table)"
            )
        if self.width % self.heads:
            raise UserError(f"width: {self.width} is not a multiple of heads ({self.heads})")
        if not (self.between_datapoints or self.between_attributes):
            raise UserError("between_datapoints and between_attributes: one of them must be true")
        if self.between_datapoints and self.between_attributes and self.layers % 2:
            raise UserError(
                f"layers: {self.layers} is odd; layers between datapoints and between attributes alternate"
            )
        if self.lookup != "off" and self.target_mask != 1:
            raise UserError(
                f"target_mask: {self.target_mask} with lookup, which hides all targets of the originals; it must be 1"
            )
        if self.target_mask == 0:
            raise UserError(
                "target_mask: 0 hides no target, so that nothing would be learned; it must be above 0, up to 1"
            )
        if self.tradeoff == "constant" and self.tradeoff_start == 1:
            raise UserError(
                "tradeoff_start: 1 with a constant tradeoff gives the targets no weight; it must be below 1"
            )
        if self.feature_mask == 0 and self.tradeoff_start > 0:
            raise UserError(
                "tradeoff_start: must be 0 where feature_mask is 0, as there is no feature loss to weigh"
            )


def _check_type(key: str, value: Any, default: Any) -> None:
    """Truth values, whole numbers and numbers stay what their defaults are; `batch_rows` may be None."""
    if default is None:
        good, kind = (
            value is None or (isinstance(value, int) and not isinstance(value, bool)),
            "not a whole number or null",
        )
    elif isinstance(default, bool):
        good, kind = isinstance(value, bool), "neither true nor false"
    elif isinstance(default, int):
        good, kind = isinstance(value, int) and not isinstance(value, bool), "not a whole number"
    elif isinstance(default, float):
        good, kind = isinstance(value, int | float) and not isinstance(value, bool), "not a number"
    else:
        return
    if not good:
        raise UserError(f"{key}: {value!r} is {kind}")
