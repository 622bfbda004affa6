"""What a run has made so far: the rows that are there, and for every one that is not yet, a row that says why."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from baselines import methods
from npt.interface import UserError
from workflow.collection import check, read_rows, select
from workflow.kinds import KINDS
from workflow.merging import Row, foreign, require_sound, with_source
from workflow.paths import RESULTS, ROWS
from workflow.plan import Plan
from workflow.report.summary import UNFINISHED
from workflow.run import Run
from workflow.seeds import format_seeds
from workflow.study import Study


def gathered(plan: Plan, study: Study) -> tuple[list[Row], int]:
    """Rows of a study in the configuration's order, and how many of them stand for results that are not there.

    Such a row is unfinished, with the error that ends the job's log as the reason. Rows of different revisions of the code may
    meet here.

    Raises:
        UserError: rows of other machines are not what they should be.
    """
    wildcards = Namespace(study=study.name)
    expected = plan.expected(study)
    prepared = [path for path in map(Path, plan.collect_data(wildcards)) if path.exists()]
    theirs = with_source(read_rows(map(Path, plan.files_elsewhere(study))), study.also)
    require_sound(theirs, prepared)
    found = {(_key(row), row["seed"]): row for row in theirs}
    missing = 0
    for run in plan.runs_of(study):
        key, seeds = run.stem.rpartition("/")[0], plan.seeds_of(study, run)
        own = {key: {**expected[key], "seeds": format_seeds(seeds)}}
        try:
            rows = with_source(check(read_rows([Path(plan.rows_of(study, run))]), own, mixed=True), ())
        except (FileNotFoundError, UserError) as error:
            reason = why_missing(plan, study, run) if isinstance(error, FileNotFoundError) else str(error)
            rows = [_unfinished(plan, run, seed, reason) for seed in seeds]
            missing += len(rows)
        found |= {(key, row["seed"]): row for row in rows}
    chosen = check(list(found.values()), expected, mixed=True) + foreign(theirs, expected, mixed=True)
    return select(chosen, expected), missing


def why_missing(plan: Plan, study: Study, run: Run) -> str:
    """Why a run, or a study's probe of it, has no rows: the error at the end of the first job on the way that has no result."""
    rule = "train" if methods()[run.method].saves_weights else "fit"
    way = [
        (f"{RESULTS}/data/{run.dataset}.arrow", f"{RESULTS}/logs/prepare/{run.dataset}.log"),
        (f"{RESULTS}/runs/{run.stem}{ROWS}", f"{RESULTS}/logs/{rule}/{run.stem}.log"),
    ]
    if KINDS[study.kind].probe:
        way.append((plan.rows_of(study, run), f"{RESULTS}/logs/probe/{study.name}/{run.stem}.log"))
    log = next(log for made, log in way if not Path(made).exists())
    if not Path(log).exists():
        return "not begun"
    lines = Path(log).read_text(encoding="utf-8", errors="replace").split("\n")
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return errors[-1] if errors else f"no result, and no error in {log}: stopped from outside, or not finished yet"


def _key(row: Row) -> str:
    return f"{row['dataset']}/{row['method']}/{row['variant']}"


def _unfinished(plan: Plan, run: Run, seed: int, reason: str) -> dict[str, Any]:
    return {
        "dataset": run.dataset,
        "task": plan.config.datasets[run.dataset].expected_task,
        "method": run.method,
        "variant": run.variant,
        "seed": seed,
        "preset": plan.config.preset,
        "fingerprint": run.fingerprint,
        "revision": "",
        "status": UNFINISHED,
        "reason": reason,
        "file": "",
    }
