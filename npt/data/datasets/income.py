"""Census-Income (KDD), UCI 117, CC BY 4.0: does a person earn more than 50,000 USD?

Not the Adult table. "?" is an ordinary level and the instance weight a feature, as in the released
code of the paper.
"""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Reading, SplitRule
from npt.data.text import rows

CONTINUOUS = (0, 5, 16, 17, 18, 24)
NAMES = [f"c{j}" for j in range(41)] + ["income"]

# Train rows, then the test rows, separated by commas and spaces.
read = rows(header=None, names=NAMES, skipinitialspace=True, keep_default_na=False)

TRAIN = File(
    "census-income.data",
    "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
    urls=(f"{UCI}/census-income-mld/census-income.data.gz",),
    size=103_874_469,
)
TEST = File(
    "census-income.test",
    "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
    urls=(f"{UCI}/census-income-mld/census-income.test.gz",),
    size=51_918_813,
)

DATASET = Dataset(
    name="income",
    title="Income",
    task="binary",
    rows=299_285,
    columns=42,
    target="income",
    categorical=tuple(name for j, name in enumerate(NAMES) if j not in CONTINUOUS),
    readings=(Reading((TRAIN, TEST), read),),
    licence="CC BY 4.0",
    split_rule=SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=99_762),
    class_counts=(280_717, 18_568),
    in_paper=True,
)
