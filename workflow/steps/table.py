"""Make one table of a study: CSV in full precision, and Markdown."""

from __future__ import annotations

import json
from pathlib import Path

from npt.files import replacing
from workflow.steps.command import execute, parser


def main() -> None:
    """Command line of the step."""
    import pandas as pd

    from workflow.report.tables import TABLES

    options = parser(__doc__)
    options.add_argument("--table", choices=TABLES, required=True)
    options.add_argument("--metrics", type=json.loads, required=True, help="metric of every task, as JSON")
    options.add_argument("--study", type=Path, required=True)
    options.add_argument("--csv", type=Path, required=True)
    options.add_argument("--markdown", type=Path, required=True)
    given = options.parse_args()
    study = pd.read_csv(given.study, keep_default_na=False, na_values=[""])
    table = TABLES[given.table](study, given.metrics)
    with replacing(given.csv) as partial:
        table.tidy.to_csv(partial, index=False)
    with replacing(given.markdown) as partial:
        partial.write_text(table.markdown(str(study["preset"].iloc[0])))


if __name__ == "__main__":
    execute(main)
