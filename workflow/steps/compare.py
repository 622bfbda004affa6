"""Compare the studies of a run with a reference; exit with 1 if scores differ.

python -m workflow.steps.compare results/reference/quick --except tabnet
"""

from __future__ import annotations

import sys
from pathlib import Path

from npt.interface import UserError
from workflow.planning import paths
from workflow.results.comparison import TOLERANCE, compare_study, verdict
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("reference", type=Path, help="folder of collected studies")
    options.add_argument(
        "--studies",
        type=Path,
        default=Path(paths.collected("x")).parent,
        help="folder of the collected studies of the run (default: %(default)s)",
    )
    options.add_argument(
        "--except",
        dest="excluded",
        action="append",
        default=[],
        metavar="METHOD",
        help="leave out the rows of a method (repeatable)",
    )
    options.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        help="relative difference up to which numbers are equal (default: %(default)s)",
    )
    arguments = options.parse_args()
    files = sorted(arguments.reference.glob("*.csv"))
    if not files:
        raise UserError(f"{arguments.reference}: has no studies (*.csv)")
    comparisons = []
    for reference in files:
        study = arguments.studies / reference.name
        comparison = compare_study(reference, study, arguments.excluded, arguments.tolerance)
        comparisons.append(comparison)
        print("\n".join(comparison.lines()))
    print(verdict(comparisons))
    sys.exit(0 if all(comparison.equal for comparison in comparisons) else 1)


if __name__ == "__main__":
    execute(main)
