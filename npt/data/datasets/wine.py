"""Wine recognition, UCI 109, CC BY 4.0, as bundled with scikit-learn: which of three cultivars.

Not one of the paper's ten tables; it gives tests a multi-class task.
"""

from __future__ import annotations

from npt.data.declaration import Dataset, File, Reading
from npt.data.text import rows

FEATURES = [
    "alcohol",
    "malic_acid",
    "ash",
    "alcalinity_of_ash",
    "magnesium",
    "total_phenols",
    "flavanoids",
    "nonflavanoid_phenols",
    "proanthocyanins",
    "color_intensity",
    "hue",
    "od280_od315",
    "proline",
]
NAMES = [*FEATURES, "cultivar"]


BUNDLED = File(
    "wine_data.csv",
    "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede",
    package=("scikit-learn", "sklearn/datasets/data/wine_data.csv"),
    size=11_157,
)

DATASET = Dataset(
    name="wine",
    title="Wine",
    task="multiclass",
    rows=178,
    columns=14,
    target="cultivar",
    categorical=("cultivar",),
    readings=(Reading((BUNDLED,), rows(skiprows=1, header=None, names=NAMES)),),
    licence="CC BY 4.0",
    class_counts=(59, 71, 48),
)
