"""CIFAR-10 (Krizhevsky 2009), licence not stated: what is on a colour image of 32 × 32 pixels?

Paper Appendix B.8. The binary version is read, which needs no unpickling. An intensity is a column:
red, then green, then blue, each row by row from the top left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npt.data.declaration import Dataset, File, Frame, Paths, Reading, SplitRule
from npt.data.images import frame, read_records
from npt.table import Image

ARCHIVE = File(
    "cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
)
CONTENT = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
# Means and deviations of the channels in the paper's code, in units of an intensity (0 to 255).
CENTRE = tuple(255 * mean for mean in (0.4914, 0.4822, 0.4465))
SCALE = tuple(255 * deviation for deviation in (0.2023, 0.1994, 0.2010))
CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
ROWS = 10_000
INTENSITIES = 3 * 32 * 32


def read(paths: Paths) -> Iterator[Frame]:
    """50,000 train images in five parts, then 10,000 test images. The class is last."""
    for name in CONTENT:
        records = read_records(paths[name], ROWS, 1 + INTENSITIES)
        names = np.array(CLASSES)[records[:, 0]]
        yield frame(records[:, 1:], names, "class")


FILES = tuple(
    File(
        name,
        sha256,
        size=ROWS * (1 + INTENSITIES),
        archive=ARCHIVE,
        member=f"cifar-10-batches-bin/{name}",
    )
    for name, sha256 in CONTENT.items()
)

DATASET = Dataset(
    name="cifar10",
    title="CIFAR-10",
    task="multiclass",
    rows=60_000,
    columns=1 + INTENSITIES,
    target="class",
    categorical=("class",),
    readings=(Reading(FILES, read),),
    licence="not stated",
    split_rule=SplitRule(folds=1, used=1, validation_share=0.1, fixed_test_rows=10_000),
    class_counts=(6_000,) * 10,
    image=Image(3, 32, 32, CENTRE, SCALE),
)
