"""What other rows are worth to each model, from the collected rows of two studies."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from workflow.config.fields import BASE
from workflow.results.study_file import read_study
from workflow.studies.benefit import OTHER_ROWS
from workflow.studies.errors import effect, losses

KEYS = ["dataset", "task", "method", "fold"]


def row_effects(folder: Path) -> pd.DataFrame:
    """Effects by dataset, task, method and kind: means over folds, in the order of the studies.

    `depends` is of permuting the other rows (`corruption.csv`), `benefits` of training without
    them (`benefit.csv`, if there is one), of models with such twins. Where `benefit.csv` has the
    base that twins are compared with, both are of it, and not of a tuned model.
    """
    probed = read_study(folder / "corruption.csv")
    frames = []
    if (folder / "benefit.csv").exists():
        trained = read_study(folder / "benefit.csv")
        base = trained[(trained["variant"] == BASE) & losses(trained, "corrupted_").notna()]
        is_base = pd.MultiIndex.from_frame(probed[KEYS]).isin(pd.MultiIndex.from_frame(base[KEYS]))
        probed = pd.concat([base, probed[~is_base]])
        trained = trained.assign(loss=losses(trained, "test_"))
        by_fold = trained.groupby([*KEYS, "variant"], sort=False)["loss"]
        variants = by_fold.mean(skipna=False).unstack("variant")
        if OTHER_ROWS.twin in variants:
            cost = effect(variants[BASE], variants[OTHER_ROWS.twin])
            frames.append(cost.rename("effect").reset_index().assign(kind="benefits"))
    cost = effect(losses(probed, "clean_"), losses(probed, "corrupted_"))
    frames.append(probed[KEYS].assign(kind="depends", effect=cost))
    by_model = pd.concat(frames).groupby([*KEYS[:-1], "kind"], sort=False)
    return by_model["effect"].mean(skipna=False).dropna().reset_index()
