"""Make the tables, figures and page of what a run has so far, under results/interim: while it goes on, or after jobs failed.

What has no result yet stands there without one, with the error of its job as the reason, and its dataset is not ranked. The
results themselves are only read.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from npt.files import replacing
from npt.interface import UserError
from workflow.paths import INTERIM, RESULTS
from workflow.steps.command import execute, parser


def main() -> None:
    """Command line of the step."""
    from npt.datasets import store
    from workflow.collection import write
    from workflow.config import read_file
    from workflow.interim import gathered
    from workflow.plan import Plan
    from workflow.report.page import render
    from workflow.report.summary import read_study
    from workflow.steps.show import show

    options = parser(__doc__)
    options.add_argument("--configfile", type=Path, default=Path("config.yaml"))
    given = options.parse_args()
    plan = Plan(read_file(given.configfile))
    interim, missing, studies = Path(INTERIM), 0, {}
    shutil.rmtree(interim, ignore_errors=True)
    for study in plan.config.studies:
        rows, without = gathered(plan, study)
        missing += without
        if without and not any(row["status"] == "ok" for row in rows):
            continue
        collected = interim / "studies" / f"{study.name}.csv"
        write(rows, study.name, collected)
        show(collected, study.kind, plan.config.choices, interim / "tables", interim / "figures")
        studies[study.name] = read_study(collected)
    if not studies:
        raise UserError(f"{RESULTS}: no study has a result yet")
    kinds = {study.name: study.kind for study in plan.config.studies}
    prepared = [store.load(path, check=False) for path in map(Path, plan.data_inputs(None)) if path.exists()]
    page = interim / "report" / "index.html"
    text = render(studies, kinds, plan.config.choices, plan.config.preset, interim, prepared, missing)
    with replacing(page) as partial:
        partial.write_text(text)
    print(f"{missing} results are missing; a page of the others, with the reasons: {page.resolve()}")


if __name__ == "__main__":
    execute(main)
