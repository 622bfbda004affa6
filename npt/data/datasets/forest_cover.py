"""Forest Cover Type, UCI 31, CC BY 4.0: the cover type of a patch of forest from its terrain."""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Reading, SplitRule
from npt.data.text import rows

TERRAIN = (
    "elevation",
    "aspect",
    "slope",
    "water_across",
    "water_down",
    "roads",
    "shade_9am",
    "shade_noon",
    "shade_3pm",
    "fire_points",
)
BINARY = (*(f"wilderness{j}" for j in range(1, 5)), *(f"soil{j}" for j in range(1, 41)))
NAMES = (*TERRAIN, *BINARY, "cover")


SOURCE = File(
    "covtype.data.gz",
    "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    urls=(f"{UCI}/covtype/covtype.data.gz", "https://ndownloader.figshare.com/files/5976039"),
)

DATASET = Dataset(
    name="forest_cover",
    title="Forest Cover",
    task="multiclass",
    rows=581_012,
    columns=55,
    target="cover",
    categorical=(*BINARY, "cover"),
    readings=(Reading((SOURCE,), rows(header=None, names=NAMES)),),
    licence="CC BY 4.0",
    split_rule=SplitRule(folds=5, used=1, validation_share=0.1),
    class_counts=(211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510),
    in_paper=True,
)
