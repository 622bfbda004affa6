"""Forecast what a configuration costs: jobs, operations, and hours of CPU cores or of a GPU.

Hours are scaled from the measurements in performance/results and results/reference. GPU hours
need a measured or a given rate.
"""

from __future__ import annotations

import math

from npt.interface import UserError
from workflow.runtime.command import execute, parser
from workflow.steps.arguments import add_configfile


def main() -> None:
    """Command line of the step."""
    from workflow.config.reading import read_file
    from workflow.planning.forecast import estimate, table
    from workflow.planning.limits import MOST_MINUTES, beyond_limits
    from workflow.planning.plan import Plan

    options = parser(__doc__)
    add_configfile(options)
    options.add_argument(
        "--gpu-teraflops", type=float, help="rate of trainings on your GPU in 10^12 operations/s"
    )
    arguments = options.parse_args()
    rate = arguments.gpu_teraflops
    if rate is not None and not 0 < rate < math.inf:
        raise UserError(f"--gpu-teraflops: {rate} is not a number above 0")
    plan = Plan.of(read_file(arguments.configfile))
    print(table(estimate(plan), rate))
    beyond = beyond_limits(plan)
    if beyond:
        stem, hours = next(iter(beyond.items()))
        print(
            f"{len(beyond)} jobs that cannot be divided may need more than the longest time limit, "
            f"{MOST_MINUTES // 60} hours, on a slow computer, the longest {hours:,.0f}: {stem}. "
            "Trainings resume at every attempt (docs/cluster.md)."
        )


if __name__ == "__main__":
    execute(main)
