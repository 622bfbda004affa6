"""Draw one figure of a study as SVG and PNG."""

from __future__ import annotations

from pathlib import Path

from npt.files import replacing
from workflow.steps.command import execute, study_parser


def main() -> None:
    """Command line of the step."""
    from workflow.report.figures import FIGURES
    from workflow.report.summary import read_study

    options = study_parser(__doc__)
    options.add_argument("--figure", choices=FIGURES, required=True)
    options.add_argument("--svg", type=Path, required=True)
    options.add_argument("--png", type=Path, required=True)
    given = options.parse_args()
    study = read_study(given.study)
    figure = FIGURES[given.figure](study, given.metrics)
    for path, metadata in ((given.svg, {"Date": None}), (given.png, {"Software": None})):
        with replacing(path) as partial:
            figure.savefig(partial, format=path.suffix[1:], metadata=metadata)


if __name__ == "__main__":
    execute(main)
