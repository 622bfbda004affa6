"""Make the tables, figures and page of what a run has so far, under results/interim: while it goes on, or after jobs failed.

What has no result yet stands there without one, with the error of its job as the reason, and its dataset is not ranked. The
results themselves are only read.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from npt.interface import UserError
from workflow.planning.paths import INTERIM, RESULTS
from workflow.runtime.command import execute, parser
from workflow.studies.kinds import Kind


def main() -> None:
    """Command line of the step."""
    from workflow.config.old_reading import read_file
    from workflow.planning.old_plan import Plan
    from workflow.report.old_page import render
    from workflow.results.collection import write
    from workflow.results.partial import Interim
    from workflow.results.study_file import read_study
    from workflow.steps.show import show

    options = parser(__doc__)
    options.add_argument("--configfile", type=Path, default=Path("config.yaml"))
    given = options.parse_args()
    plan = Plan(read_file(given.configfile))
    interim = Interim(plan)
    found = {study.name: interim.gathered(study) for study in plan.config.studies}
    remarks = [f"{name}: {remark}" for name, one in found.items() for remark in one.remarks]
    if not any(one.begun for one in found.values()):
        first = next(row for one in found.values() for row in one.rows)
        which = f"{first['method']} ({first['variant']}) on {first['dataset']}, fold {first['fold']}: {first['reason']}"
        raise UserError(f"{RESULTS}: no study has a result yet; {'; '.join([*remarks, which])}")
    place = Path(INTERIM)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as folder:
        made, studies = Path(folder) / place.name, {}
        kinds: dict[str, Kind] = {study.name: study.kind for study in plan.config.studies}
        for name, one in found.items():
            collected = made / "studies" / f"{name}.csv"
            write(one.rows, name, collected)
            studies[name] = read_study(collected)
            if one.begun:
                show(collected, kinds[name], plan.config.scoring, made / "tables", made / "figures")
        prepared = list(interim.prepared.values())
        text = render(
            studies, kinds, plan.config.scoring, plan.config.preset, made, prepared, remarks
        )
        (made / "report").mkdir()
        (made / "report" / "index.html").write_text(text, encoding="utf-8")
        _replace(place, made)
    missing = sum(one.missing for one in found.values())
    count = "1 result is" if missing == 1 else f"{missing} results are"
    print(
        f"{count} missing; a page of the others, with the reasons: {(place / 'report' / 'index.html').resolve()}"
    )


def _replace(place: Path, made: Path) -> None:
    """Put a folder where another, or a file, may be."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
    made.rename(place)


if __name__ == "__main__":
    execute(main)
