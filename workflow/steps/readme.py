"""Write the README of a folder of rows: FOLDER/config.yaml and STUDY.csv files to README.md."""

from __future__ import annotations

from pathlib import Path

from npt.atomic import write_text
from workflow.report.summary import README, folder_summary
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("folder", type=Path, nargs="+", help="such as results/reference/quick")
    arguments = options.parse_args()
    for folder in arguments.folder:
        write_text(folder / README, folder_summary(folder))
        print(folder / README, flush=True)


if __name__ == "__main__":
    execute(main)
