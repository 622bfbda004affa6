"""Put all studies onto one HTML page."""

from __future__ import annotations

import json
from pathlib import Path

from npt.atomic import replacing
from workflow.runtime.command import add_scoring, execute, parser


def main() -> None:
    """Command line of the step."""
    from npt.data import store
    from workflow.report.old_page import render
    from workflow.results.study_file import read_study

    options = parser(__doc__)
    options.add_argument(
        "--studies", type=json.loads, required=True, help="study to kind in order, as JSON"
    )
    add_scoring(options)
    options.add_argument("--preset", required=True)
    options.add_argument("--results", type=Path, required=True)
    options.add_argument("--output", type=Path, required=True)
    options.add_argument("data", nargs="+", type=Path, help="prepared datasets")
    given = options.parse_args()
    studies = {
        name: read_study(given.results / "studies" / f"{name}.csv") for name in given.studies
    }
    prepared = [store.load(path, check=False) for path in given.data]
    page = render(studies, given.studies, given.scoring, given.preset, given.results, prepared)
    with replacing(given.output) as partial:
        partial.write_text(page)


if __name__ == "__main__":
    execute(main)
