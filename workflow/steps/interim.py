"""Write tables, figures and report of what a run has so far, under results/interim.

Missing results are shown with the error of their job, and their datasets are not ranked. The
results themselves are only read.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from npt.interface import UserError
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.planning.plan import Plan
from workflow.report.unfinished import remarks, write_interim
from workflow.results.collection import Collected, Collector
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    parser(__doc__).parse_args()
    plan = load()
    collector = Collector(plan)
    collected = {name: collector.collect(study) for name, study in plan.studies.items()}
    _require_begun(plan, collected)
    prepared = list(collector.prepared.available.values())
    target = Path(paths.INTERIM)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        made = Path(folder) / target.name
        write_interim(plan, collected, prepared, made)
        _replace(target, made)
    missing = sum(len(rows.unfinished) for rows in collected.values())
    count = "1 result is" if missing == 1 else f"{missing} results are"
    page = (target / "report" / "index.html").resolve()
    print(f"{count} missing; report of the others, with the reasons: {page}")


def _require_begun(plan: Plan, collected: Mapping[str, Collected]) -> None:
    """Raise `UserError` where no study has a result, with the reason of the first."""
    if any(rows.begun for rows in collected.values()):
        return
    first = next(row for rows in collected.values() for row in rows.unfinished)
    reason = f"{first.run_key} fold {first.fold}: {first.reason}"
    messages = "; ".join([*remarks(plan, collected), reason])
    raise UserError(f"{paths.RESULTS}: no study has a result yet; {messages}")


def _replace(target: Path, made: Path) -> None:
    """Rename a folder to a path that may hold another folder or a file."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target, ignore_errors=True)
    else:
        target.unlink(missing_ok=True)
    made.rename(target)


if __name__ == "__main__":
    execute(main)
