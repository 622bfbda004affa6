"""A user's own table from the configuration to every table, study and the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from tests.smoke.running import run

NPT = {"width": 8, "layers": 2, "heads": 2, "updates": 10, "evaluate_every": 5, "target_mask": 0.5}


def houses(rows: int = 90) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"size": generator.normal(100, 20, rows), "street": generator.choice(list("abcdef"), rows)}
    )
    frame["price"] = 3 * frame["size"] + generator.normal(0, 5, rows)
    frame.loc[::7, "size"] = np.nan
    return frame


def config(folder: Path, **changes: object) -> Path:
    block = {
        "path": "houses.csv",
        "target": "price",
        "task": "regression",
        "group": "street",
        "folds": 3,
    }
    content = {
        "preset": "mine", "folds": 0, "tables": {"houses": block}, "datasets": ["houses"],
        "methods": ["npt", "knn"], "settings": {"npt": NPT, "knn": {"grid": "quick"}},
        "overrides": {"houses": {"npt": {"updates": 5}}},
        "studies": {
            "main": {},
            "corruption": {"kind": "corruption", "datasets": ["houses"], "methods": ["npt"]},
            "lookup": {
                "kind": "lookup", "methods": ["npt"], "base": False,
                "variants": {"npt": {"lookup": {"lookup": "original", "target_mask": 1}}},
            },
        },
        **changes,
    }  # fmt: skip
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_it_appears_everywhere_and_a_changed_file_is_noticed(tmp_path: Path) -> None:
    houses().to_csv(tmp_path / "houses.csv", index=False)
    done = run(tmp_path, config=config(tmp_path))
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results"
    for file in ("main.metrics", "main.cost", "corruption.corruption", "lookup.lookup"):
        assert "houses" in (results / f"tables/{file}.md").read_text()
    page = (results / "report/index.html").read_text()
    for text in (
        "houses*",
        "houses.csv (your own)",
        "houses: 90 rows, 1 features, regression of price",
        "left out: street",
    ):
        assert text in page
    assert (results / "figures/lookup.intervention.png").stat().st_size > 10_000
    found = pd.read_csv(results / "studies/lookup.csv")
    assert (
        found["nearest_rmse"].iloc[0] < 1e-9
        or found["nearest_rmse"].iloc[0] < found["constant_rmse"].iloc[0]
    )
    assert {"rmse", "correlation", "alone_rmse", "intervention_slope"} <= set(found)
    log = (results / "logs/prepare/houses.log").read_text()
    assert "continuous: size" in log
    assert "missing cells: size 13" in log
    assert "Nothing to be done" in run(tmp_path, config=tmp_path / "mine.yaml").stderr

    houses(120).to_csv(tmp_path / "houses.csv", index=False)
    planned = run(tmp_path, "--dry-run", "--quiet", "rules", config=tmp_path / "mine.yaml")
    assert "prepare" in planned.stdout + planned.stderr
    done = run(tmp_path, config=tmp_path / "mine.yaml")
    assert done.returncode == 0, done.stderr
    assert "houses: 120 rows" in (results / "report/index.html").read_text()


def test_what_is_wrong_with_it_is_one_line(tmp_path: Path) -> None:
    houses().assign(price=1).to_csv(tmp_path / "houses.csv", index=False)
    done = run(tmp_path, config=config(tmp_path))
    assert done.returncode != 0
    assert "error: houses.csv: target 'price' has a single value, 1" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "houses.csv").unlink()
    gone = run(tmp_path, config=tmp_path / "mine.yaml")
    assert (
        gone.stderr.strip()
        .splitlines()[-1]
        .startswith("error: tables.houses.path: houses.csv: there is no such file")
    )
    outside = run(tmp_path, config=config(tmp_path, folds="0-5"))
    assert "Traceback" not in outside.stderr
