"""A custom dataset from the configuration to tables, studies and report."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from tests.smoke.running import run, run_to_end
from workflow.results.study_file import read_study

NPT = {"width": 8, "layers": 2, "heads": 2, "updates": 10, "evaluate_every": 5, "target_mask": 0.5}
HOUSES = {
    "path": "houses.csv",
    "target": "price",
    "task": "regression",
    "group": "street",
    "folds": 3,
}
IN_THE_FUTURE = 4_000_000_000
LOOKUP = {
    "kind": "lookup",
    "methods": ["npt"],
    "include_base": False,
    "variants": {"npt": {"lookup": {"lookup": "original", "target_mask": 1}}},
}
CONTENT: dict[str, Any] = {
    "preset": "mine",
    "folds": 0,
    "custom_datasets": {"houses": HOUSES},
    "datasets": ["houses"],
    "methods": ["npt", "knn"],
    "settings": {"npt": NPT, "knn": {"grid": "quick"}},
    "overrides": {"houses": {"npt": {"updates": 5}}},
    "studies": {
        "main": {},
        "corruption": {"kind": "corruption", "methods": ["npt"]},
        "lookup": LOOKUP,
    },
}


def houses(rows: int = 90) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    sizes = generator.normal(100, 20, rows)
    streets = generator.choice(list("abcdef"), rows)
    prices = 3 * sizes + generator.normal(0, 5, rows)
    sizes[::7] = np.nan
    return pd.DataFrame({"size": sizes, "street": streets, "price": prices})


def test_custom_dataset_is_in_every_study_and_its_changes_are_noticed(tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text(yaml.safe_dump(CONTENT))
    houses().to_csv(tmp_path / "houses.csv", index=False)
    run_to_end(tmp_path, config=config)
    results = tmp_path / "results"
    for table in ("main/metrics", "main/cost", "corruption/corruption", "lookup/lookup"):
        assert "houses" in (results / f"tables/{table}.csv").read_text()
    page = (results / "report/index.html").read_text()
    for text in ("houses", "90 rows", "street"):
        assert text in page
    rows = read_study(results / "studies/lookup.csv")
    assert {"rmse", "correlation", "alone_rmse", "intervention_slope"} <= set(rows)
    log = (results / "logs/prepare/houses.log").read_text()
    assert "continuous: size" in log

    os.utime(tmp_path / "houses.csv", (IN_THE_FUTURE, IN_THE_FUTURE))
    assert "Nothing to be done" in run(tmp_path, config=config).stderr

    houses(120).to_csv(tmp_path / "houses.csv", index=False)
    os.utime(tmp_path / "houses.csv", (0, 0))  # as older files that replace others
    planned = run(tmp_path, "--dry-run", config=config)
    for rule in ("prepare", "train", "fit", "probe", "report"):
        assert re.search(rf"^{rule} +\d", planned.stdout + planned.stderr, re.MULTILINE), rule
