"""Draw one figure of a study as SVG and PNG."""

from __future__ import annotations

import json
from pathlib import Path

from npt.files import replacing
from workflow.steps.command import execute, parser


def main() -> None:
    """Command line of the step."""
    import pandas as pd

    from workflow.report.figures import FIGURES

    options = parser(__doc__)
    options.add_argument("--figure", choices=FIGURES, required=True)
    options.add_argument("--metrics", type=json.loads, required=True, help="metric of every task, as JSON")
    options.add_argument("--study", type=Path, required=True)
    options.add_argument("--svg", type=Path, required=True)
    options.add_argument("--png", type=Path, required=True)
    given = options.parse_args()
    study = pd.read_csv(given.study, keep_default_na=False, na_values=[""])
    figure = FIGURES[given.figure](study, given.metrics)
    for path, metadata in ((given.svg, {"Date": None}), (given.png, {"Software": None})):
        with replacing(path) as partial:
            figure.savefig(partial, format=path.suffix[1:], metadata=metadata)


if __name__ == "__main__":
    execute(main)
