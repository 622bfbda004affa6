"""Poker Hand, UCI 158, CC BY 4.0: the hand that five cards make.

Suits are categories and ranks numbers, as in the released code of the paper. Its text states ten
categories, as in `poker_hand_categorical`.
"""

from __future__ import annotations

from npt.data.declaration import UCI, Dataset, File, Reading, SplitRule
from npt.data.text import rows

NAMES = [f"{fact}{card}" for card in range(1, 6) for fact in ("suit", "rank")] + ["hand"]


TRAIN = File(
    "poker-hand-training-true.data",
    "37becdf87d5f8cbf2b91d6471e965a25b86cb4a6d878c0f94a4025969fca464f",
    urls=(f"{UCI}/poker/poker-hand-training-true.data",),
    size=613_694,
)
TEST = File(
    "poker-hand-testing.data",
    "3cd75958e19dd321ed5ca3f7f154c0f6aad544aab9f37731ac545b5f66b232c7",
    urls=(f"{UCI}/poker/poker-hand-testing.data",),
)

DATASET = Dataset(
    name="poker_hand",
    title="Poker Hand",
    task="multiclass",
    rows=1_025_010,
    columns=11,
    target="hand",
    categorical=(*NAMES[:10:2], "hand"),
    readings=(Reading((TRAIN, TEST), rows(header=None, names=NAMES)),),
    licence="CC BY 4.0",
    split_rule=SplitRule(folds=1, used=1, validation_share=0.125, fixed_test_rows=1_000_000),
    class_counts=(513_702, 433_097, 48_828, 21_634, 3_978, 2_050, 1_460, 236, 17, 8),
    in_paper=True,
)

ALTERNATIVES = (
    DATASET.as_alternative("categorical", "Poker Hand (all categories)", categorical=tuple(NAMES)),
)
