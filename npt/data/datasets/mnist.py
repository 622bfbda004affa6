"""MNIST (LeCun, Cortes and Burges), CC BY-SA 3.0: which digit is on an image of 28 × 28 pixels?

Paper Appendix B.8. A pixel is a column, row by row from the top left.
"""

from __future__ import annotations

from collections.abc import Iterator

from npt.data.declaration import Dataset, File, Frame, Paths, Reading, SplitRule
from npt.data.images import frame, read_idx
from npt.table import Image

HOSTS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)
PARTS = (("train", 60_000), ("t10k", 10_000))


def read(paths: Paths) -> Iterator[Frame]:
    """60,000 train images, then 10,000 test images. The digit is last."""
    for part, rows in PARTS:
        images = read_idx(paths[f"{part}-images-idx3-ubyte.gz"], (rows, 28, 28))
        digits = read_idx(paths[f"{part}-labels-idx1-ubyte.gz"], (rows,))
        yield frame(images, digits, "digit")


def file(name: str, sha256: str, size: int) -> File:
    """A file that both hosts serve."""
    return File(name, sha256, tuple(f"{host}/{name}" for host in HOSTS), size=size)


FILES = (
    file(
        "train-images-idx3-ubyte.gz",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        9_912_422,
    ),
    file(
        "train-labels-idx1-ubyte.gz",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        28_881,
    ),
    file(
        "t10k-images-idx3-ubyte.gz",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        1_648_877,
    ),
    file(
        "t10k-labels-idx1-ubyte.gz",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        4_542,
    ),
)

DATASET = Dataset(
    name="mnist",
    title="MNIST",
    task="multiclass",
    rows=70_000,
    columns=785,
    target="digit",
    categorical=("digit",),
    readings=(Reading(FILES, read),),
    licence="CC BY-SA 3.0",
    split_rule=SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=10_000),
    class_counts=(6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958),
    image=Image(1, 28, 28),
)
