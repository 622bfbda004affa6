"""Rows of run and probe files as one tidy table, refusing holes, duplicates and mixtures."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from baselines import methods
from npt.atomic import replacing
from npt.interface import UserError
from workflow.config.folds import parse_folds
from workflow.planning.revision import revision
from workflow.results.external import Expected, remedy, require_reason
from workflow.results.row import UNFINISHED

CHECKSUM = "checksum"  # last column of a row in a file
REQUIRED = (
    "dataset",
    "task",
    "method",
    "variant",
    "fold",
    "status",
    "reason",
    "preset",
    "fingerprint",
    "revision",
)


def checksum(row: Mapping[str, Any]) -> str:
    """Eight hex digits over what a row says."""
    return f"{zlib.crc32(json.dumps(row).encode()):08x}"


def read_rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Rows of .jsonl files; each remembers its file.

    Raises:
        UserError: a line is not JSON or lacks a column.
    """
    rows = []
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise UserError(f"{path}: not text in UTF-8; remove the file and run again") from None
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(
                    f"{path}:{number}: not JSON ({error.msg}); remove the file and run again"
                ) from None
            if not isinstance(row, dict):
                raise UserError(
                    f"{path}:{number}: not an object with columns; remove the file and run again"
                )
            found = row.pop(CHECKSUM, None)
            if found is not None and found != checksum(row):
                raise UserError(
                    f"{path}:{number}: damaged (it is not what its checksum says); remove the file and run again"
                )
            missing = [column for column in REQUIRED if column not in row]
            if missing:
                raise UserError(
                    f"{path}:{number}: lacks {', '.join(missing)}; remove the file and run again"
                )
            rows.append({**row, "file": str(path)})
    return rows


def name_of(row: Mapping[str, Any]) -> str:
    """dataset/method/variant of a row, as `Run.name`."""
    return f"{row['dataset']}/{row['method']}/{row['variant']}"


def check(rows: list[dict[str, Any]], expected: Expected, *, mixed: bool) -> list[dict[str, Any]]:
    """The expected rows in order, each present once, made with the planned settings and one revision of the code.

    Raises:
        UserError: a row is missing, double, made otherwise, or failed without a reason.
    """
    by_key: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_key[name_of(row), json.dumps(row["fold"])].append(row)
    chosen = []
    for run, facts in expected.items():
        for fold in parse_folds(facts["folds"]):
            found = by_key[run, str(fold)]
            if len(found) != 1:
                files = ", ".join(row["file"] for row in found) or "no file"
                raise UserError(
                    f"{run} fold {fold}: {len(found)} rows in {files}; exactly one is allowed; remove the run's .jsonl file "
                    "under results/runs or results/probes (or take it out of the folder of `also`) and run again"
                )
            row = found[0]
            if row["fingerprint"] != facts["fingerprint"]:
                made = f"made with other settings or data ({row['fingerprint']}, here {facts['fingerprint']})"
                raise UserError(f"{row['file']}: {made}; {remedy(row)}")
            require_reason(row)
            chosen.append(row)
    if not mixed:
        refuse_mixed_revisions(chosen)
    return chosen


def select(rows: list[dict[str, Any]], expected: Expected) -> list[dict[str, Any]]:
    """One row for all trials of a run on a fold: the one with the lowest validation loss (paper Appendix E.1).

    It says which configuration won, what that changes and out of how many, and carries the seconds of all. A trial that
    failed is passed over, unless all did; while one is unfinished, so is the fold.
    """
    trials: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        key = name_of(row)
        facts = expected.get(key, {})
        name = facts.get("trial_of", key)
        tried = {"changes": json.loads(facts["changes"])} if name != key else {}
        trials.setdefault((name, row["fold"]), []).append({**row, **tried})
    return [
        _best(members, name) if "changes" in members[0] else members[0]
        for (name, _), members in trials.items()
    ]


def _best(trials: list[dict[str, Any]], name: str) -> dict[str, Any]:
    if waiting := [row for row in trials if row["status"] == UNFINISHED]:
        return {
            **{key: value for key, value in waiting[0].items() if key != "changes"},
            "variant": name.rpartition("/")[2],
        }
    finished = [row for row in trials if row["status"] == "ok"]
    winner = min(finished, key=_loss) if finished else trials[0]
    total: dict[str, float] = {
        name: round(sum(row[name] for row in trials if row.get(name) is not None), 3)
        for name in ("fit_seconds", "fits")
    }
    chosen = {
        "configuration": winner["variant"],
        **winner.pop("changes"),
        **(winner.get("chosen") or {}),
    }
    total["configurations"] = len(trials)
    return {**winner, **total, "variant": name.rpartition("/")[2], "chosen": chosen}


def _loss(row: Mapping[str, Any]) -> float:
    loss = row["validation_loss"]
    return math.inf if loss is None or math.isnan(loss) else loss


def refuse_mixed_revisions(rows: Iterable[Mapping[str, Any]]) -> None:
    """Raise `UserError` where rows of a method were made by different code, or those of another machine by other than here."""
    revisions: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        revisions[row["method"]][row["revision"]] += 1
        if row.get("source") and row["revision"] != (here := revision(methods()[row["method"]])):
            raise UserError(
                f"{row['file']}: made by another revision of the code ({row['revision']}, here {here}); "
                "make it anew there, or collect by hand with --allow-mixed-revisions"
            )
    for method, counts in revisions.items():
        if len(counts) > 1:
            found = ", ".join(f"{revision} ({n} rows)" for revision, n in counts.items())
            raise UserError(
                f"{method}: rows of different code revisions: {found}; remove results/runs/*/{method} and "
                f"results/probes/*/*/{method} to make them anew, or pass --allow-mixed-revisions to this step"
            )


def write(rows: list[dict[str, Any]], study: str, output: Path) -> None:
    """One CSV, nested values as JSON."""
    import pandas as pd

    flat = [
        {
            key: json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
            for key, value in row.items()
        }
        for row in rows
    ]
    made_here = not any(row.get("source") for row in rows)
    frame = pd.DataFrame(flat).drop(
        columns=["file", "source"] if made_here else "file", errors="ignore"
    )
    frame.insert(0, "study", study)
    with replacing(output) as partial:
        frame.to_csv(partial, index=False)
