"""HIGGS, UCI 280, CC BY 4.0: does a collision produce a Higgs boson?

The download of 2.8 GB resumes after an interruption, and is read in parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from npt.data.declaration import UCI, Dataset, File, Frame, Paths, Reading, SplitRule

BLOCK_BYTES = 2 << 20  # Arrow reads about thirty blocks ahead
NAMES = ["signal", *(f"x{j}" for j in range(28))]


def read(paths: Paths) -> Iterator[Frame]:
    """The target, then 28 numbers, exactly, in frames of two megabytes of text each."""
    from pyarrow import csv

    batches = csv.open_csv(
        str(paths["HIGGS.csv.gz"]),
        csv.ReadOptions(column_names=NAMES, block_size=BLOCK_BYTES, use_threads=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(NAMES, "float64")),
    )
    for batch in batches:
        yield batch.to_pandas().astype({"signal": int})


SOURCE = File(
    "HIGGS.csv.gz",
    "ea302c18164d4e3d916a1e2e83a9a8d07069fa6ebc7771e4c0540d54e593b698",
    urls=(f"{UCI}/00280/HIGGS.csv.gz",),
    size=2_816_407_858,
)

DATASET = Dataset(
    name="higgs",
    title="Higgs",
    task="binary",
    rows=11_000_000,
    columns=29,
    target="signal",
    categorical=("signal",),
    readings=(Reading((SOURCE,), read),),
    licence="CC BY 4.0",
    split_rule=SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=500_000),
    class_counts=(5_170_877, 5_829_123),
    in_paper=True,
)
