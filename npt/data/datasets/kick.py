"""Don't Get Kicked! (OpenML 41162), public: is a car bought at an auction a bad buy?

It has real missing values.
"""

from __future__ import annotations

from npt.data.declaration import Dataset, File, Frame, Paths, Reading, SplitRule
from npt.data.text import rows

CATEGORICAL = (
    "IsBadBuy",
    "Auction",
    "Make",
    "Model",
    "Trim",
    "SubModel",
    "Color",
    "Transmission",
    "WheelTypeID",
    "WheelType",
    "Nationality",
    "Size",
    "TopThreeAmericanName",
    "PRIMEUNIT",
    "AUCGUART",
    "BYRNO",
    "VNZIP1",
    "VNST",
    "IsOnlineSale",
)


read_export = rows(na_values=["?"], dtype=dict.fromkeys(CATEGORICAL, "str"))


def read(paths: Paths) -> Frame:
    """The export's columns with the target moved to the end; "?" is a missing cell."""
    frame = read_export(paths)
    frame["IsBadBuy"] = frame.pop("IsBadBuy")
    return frame


SOURCE = File(
    "kick.csv",
    "32ca4d28e69c6bd56c201025d3aed651f393c1364264a29b512be109006dc7fb",
    urls=("https://www.openml.org/data/get_csv/19335679/kick.arff",),
    size=16_101_010,
)

DATASET = Dataset(
    name="kick",
    title="Kick",
    task="binary",
    rows=72_983,
    columns=33,
    target="IsBadBuy",
    categorical=CATEGORICAL,
    readings=(Reading((SOURCE,), read),),
    licence="public",
    split_rule=SplitRule(folds=5, used=1, validation_share=0.1),
    class_counts=(64_007, 8_976),
    in_paper=True,
)
