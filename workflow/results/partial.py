"""What a run has made so far: the rows that are there, and for every one that is not yet, a row that says why."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from baselines import methods
from npt.data import store
from npt.interface import UserError
from workflow.config.folds import format_folds, parse_folds
from workflow.config.old_study import Study
from workflow.planning.old_plan import Plan
from workflow.planning.paths import RESULTS, ROWS
from workflow.planning.runs import Run
from workflow.results.collection import check, name_of, read_rows, refuse_mixed_revisions, select
from workflow.results.external import Row, foreign, require_sound, with_source
from workflow.results.row import UNFINISHED
from workflow.studies.kinds import KINDS

TAIL = 100_000  # bytes of a log in which its last error is looked for


@dataclass
class Gathered:
    """Rows of a study in the configuration's order, of which some stand for results that are `missing`.

    Such a row is unfinished, with the error that ends the job's log as the reason. `remarks` tell what else is amiss.
    """

    rows: list[Row] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """How many results are still to come."""
        return sum(row["status"] == UNFINISHED for row in self.rows)

    @property
    def begun(self) -> bool:
        """Whether there is a result to show, if only that of a method that failed."""
        return self.missing < len(self.rows)


class Interim:
    """A plan and the prepared tables that are there; `broken` says of others what is wrong with them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.prepared: dict[str, store.Prepared] = {}
        self.broken: dict[str, str] = {}
        for path in map(Path, plan.data_inputs(None)):
            try:
                self.prepared[path.stem] = store.load(path, check=False)
            except FileNotFoundError:
                self.broken[path.stem] = (
                    _told(f"{RESULTS}/logs/prepare/{path.stem}.log") or f"{path} is not there"
                )
            except (UserError, OSError) as error:
                self.broken[path.stem] = str(error)

    def gathered(self, study: Study) -> Gathered:
        """What there is of a study. Rows of different revisions of the code may meet here, with a remark."""
        expected, found, wildcards = (
            self.plan.expected(study),
            Gathered(),
            Namespace(study=study.name),
        )
        theirs, refused = self._elsewhere(study, wildcards)
        made: dict[tuple[str, int], Row] = {}
        for run in self.plan.runs_of(study):
            own = self._own(study, run, self.plan.folds_of_study(study, run), expected[run.name])
            made |= {(run.name, fold): row for fold, row in own.items()}
        for key, facts in expected.items():
            folds = [
                fold for fold in parse_folds(facts["folds"], key) or () if (key, fold) not in made
            ]
            made |= {
                (key, fold): row
                for fold, row in self._theirs(theirs, refused, key, folds, facts).items()
            }
        chosen = check(list(made.values()), expected, mixed=True)
        found.remarks += [refused] if refused else []
        try:
            refuse_mixed_revisions([row for row in chosen if row["status"] != UNFINISHED])
        except UserError as error:
            found.remarks.append(str(error))
        try:
            chosen += foreign(theirs, expected, mixed=True)
        except UserError as error:
            found.remarks.append(str(error))
        found.remarks += self._not_shown(study)
        found.rows = select(chosen, expected)
        return found

    def _elsewhere(self, study: Study, wildcards: Namespace) -> tuple[list[Row], str]:
        """Rows of other machines, or none and why."""
        prepared = [
            path
            for path in map(Path, self.plan.collect_data(wildcards))
            if path.stem in self.prepared
        ]
        try:
            theirs = with_source(read_rows(map(Path, self.plan.files_elsewhere(study))), study.also)
            require_sound(theirs, prepared)
        except (UserError, OSError) as error:
            return [], str(error)
        return theirs, ""

    def _theirs(
        self, rows: list[Row], refused: str, key: str, folds: list[int], facts: Mapping[str, str]
    ) -> dict[int, Row]:
        """Other machines' rows of a run by fold: those of folds that no file of this one has."""
        reason, own = refused, {key: {**facts, "folds": format_folds(folds)}}
        if folds and not reason:
            try:
                return {
                    row["fold"]: row
                    for row in check([row for row in rows if name_of(row) == key], own, mixed=True)
                }
            except UserError as error:
                reason = str(error)
        return {fold: self._unfinished(key, facts["fingerprint"], fold, reason) for fold in folds}

    def _own(
        self, study: Study, run: Run, folds: list[int], facts: Mapping[str, str]
    ) -> dict[int, Row]:
        """The rows of a run, or of the study's probe of it, by fold."""
        key, path, reason = (
            run.name,
            Path(self.plan.rows_of(study, run)),
            self.broken.get(run.dataset, ""),
        )
        if not reason:
            try:
                own = {key: {**facts, "folds": format_folds(folds)}}
                rows = with_source(check(read_rows([path]), own, mixed=True), ())
                old = {row["fold"]: why for row in rows if (why := self._outdated(study, row))}
                return {row["fold"]: row for row in rows} | {
                    fold: self._unfinished(key, run.fingerprint, fold, why)
                    for fold, why in old.items()
                }
            except FileNotFoundError:
                reason = self._why(study, run)
            except (UserError, OSError) as error:
                reason = str(error)
        return {fold: self._unfinished(key, run.fingerprint, fold, reason) for fold in folds}

    def _outdated(self, study: Study, row: Row) -> str:
        """Why a row is of an earlier table, or an earlier question; empty if it is not."""
        prepared = self.prepared[row["dataset"]]
        if [row.get("data"), row.get("splits")] != [
            prepared.facts[name][:16] for name in ("content", "splits")
        ]:
            return f"{row['file']} is of an earlier table"
        if KINDS[study.kind].probe and row["status"] == "ok":
            test = len(prepared.splits[row["fold"]].test)
            options = json.loads(self.plan.probe_options(Namespace(study=study.name)))
            asked = {"options": options, "rows": min(test, study.rows or test)}
            if any(row.get(name) != value for name, value in asked.items()):
                return f"{row['file']} answers an earlier question"
        return ""

    def _why(self, study: Study, run: Run) -> str:
        """Why a run, or a study's probe of it, has no rows: the error of the first job on the way that has no result."""
        rule = "train" if methods()[run.method].saves_weights else "fit"
        made, log = f"{RESULTS}/runs/{run.stem}{ROWS}", f"{RESULTS}/logs/{rule}/{run.stem}.log"
        if KINDS[study.kind].probe and Path(made).exists():
            log = f"{RESULTS}/logs/probe/{study.name}/{run.stem}.log"
        if not Path(log).exists():
            return "not begun"
        return (
            _told(log)
            or f"no result, and no error in {log}: stopped from outside, or not finished yet"
        )

    def _not_shown(self, study: Study) -> list[str]:
        """Errors of the jobs that collect and show a study, where they made nothing."""
        shown = self.plan.shown(study.name, study.kind)
        jobs = {"collect": [f"{RESULTS}/studies/{study.name}.csv"], "show": shown}
        logs = [
            f"{RESULTS}/logs/{job}/{study.name}.log"
            for job, made in jobs.items()
            if not all(map(os.path.exists, made))
        ]
        return [told for log in logs if (told := _told(log))]

    def _unfinished(self, key: str, fingerprint: str, fold: int, reason: str) -> Row:
        dataset, method, variant = key.split("/")
        prepared = self.prepared.get(dataset)
        return {
            "dataset": dataset,
            "task": prepared.table.task
            if prepared
            else self.plan.config.datasets[dataset].expected_task,
            "method": method,
            "variant": variant,
            "fold": fold,
            "preset": self.plan.config.preset,
            "fingerprint": fingerprint,
            "revision": "",
            "status": UNFINISHED,
            "reason": reason,
            "file": "",
        }


def _told(log: str) -> str:
    """The last error that a log tells; empty if there is no such file or error."""
    try:
        with Path(log).open("rb") as content:
            content.seek(max(0, Path(log).stat().st_size - TAIL))
            text = content.read().decode(errors="replace")
    except OSError:
        return ""
    errors = [
        line.removeprefix("error: ").strip()
        for line in text.splitlines()
        if line.startswith("error: ")
    ]
    return next((error for error in reversed(errors) if error), "")
