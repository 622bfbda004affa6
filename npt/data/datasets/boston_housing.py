"""Boston Housing (Harrison and Rubinfeld 1978), UCI mirror: median house value in 1000 USD.

Kept only because the paper reports it: its column B encodes a racial assumption. CHAS and RAD are
categories, as in the released code of the paper. RAD, an index of access to highways, is a number
in `boston_housing_numeric_rad`.
"""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Reading
from npt.data.text import rows

NAMES = [
    "CRIM",
    "ZN",
    "INDUS",
    "CHAS",
    "NOX",
    "RM",
    "AGE",
    "DIS",
    "RAD",
    "TAX",
    "PTRATIO",
    "B",
    "LSTAT",
    "MEDV",
]


SOURCE = File(
    "housing.data",
    "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
    urls=(f"{UCI}/housing/housing.data",),
    size=49_082,
)

DATASET = Dataset(
    name="boston_housing",
    title="Boston Housing",
    task="regression",
    rows=506,
    columns=14,
    target="MEDV",
    categorical=("CHAS", "RAD"),
    readings=(Reading((SOURCE,), rows(sep=r"\s+", header=None, names=NAMES)),),
    licence="not stated",
    target_sigma=9.188011545278203,
    in_paper=True,
    tuned_on=True,
)

ALTERNATIVES = (
    DATASET.with_legacy_splits(),
    DATASET.as_alternative(
        "numeric_rad", "Boston Housing (RAD as a number)", categorical=("CHAS",)
    ),
)
