"""Breast Cancer Wisconsin (Diagnostic), UCI 17, CC BY 4.0: is a mass malignant?

30 features of its image; the id column is dropped. scikit-learn ships the same rows in the same
order with the label last and inverted.
"""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Frame, Paths, Reading
from npt.data.text import rows

STATISTICS = ("mean", "error", "worst")
MEASURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
)
FEATURES = [f"{statistic}_{measure}" for statistic in STATISTICS for measure in MEASURES]


read_upstream = rows(
    header=None, names=["id", "diagnosis", *FEATURES], usecols=["diagnosis", *FEATURES]
)
read_bundled = rows(skiprows=1, header=None, names=[*FEATURES, "benign"])


def read_scikit_learn(paths: Paths) -> Frame:
    """30 features, then 0 for malignant and 1 for benign."""
    frame = read_bundled(paths)
    frame.insert(0, "diagnosis", frame.pop("benign").map({0: "M", 1: "B"}))
    return frame


UPSTREAM = File(
    "wdbc.data",
    "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
    urls=(f"{UCI}/breast-cancer-wisconsin/wdbc.data",),
    size=124_103,
)
BUNDLED = File(
    "breast_cancer.csv",
    "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed",
    package=("scikit-learn", "sklearn/datasets/data/breast_cancer.csv"),
    size=119_913,
)

DATASET = Dataset(
    name="breast_cancer",
    title="Breast Cancer",
    task="binary",
    rows=569,
    columns=31,
    target="diagnosis",
    categorical=("diagnosis",),
    readings=(Reading((UPSTREAM,), read_upstream), Reading((BUNDLED,), read_scikit_learn)),
    licence="CC BY 4.0",
    class_counts=(357, 212),
    in_paper=True,
)

ALTERNATIVES = (DATASET.with_legacy_splits(),)
