"""Tell what a configuration will cost before it runs: jobs, floating-point operations, and hours of CPU cores or of a GPU.

Hours are those of this project's own measurements (performance/results, results/reference), scaled to the operations of a
training, the configurations and cells of a search, and the passes of a probe. A GPU's hours are told only for a rate that was
measured, or that is given.
"""

from __future__ import annotations

from pathlib import Path

from npt.interface import UserError
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    from workflow.config.old_reading import read_file
    from workflow.planning.forecast import estimate, shown
    from workflow.planning.old_plan import Plan

    options = parser(__doc__)
    options.add_argument("--configfile", type=Path, default=Path("config.yaml"))
    options.add_argument(
        "--gpu-teraflops",
        type=float,
        help="operations that a training does on your GPU, in 10^12 a second",
    )
    given = options.parse_args()
    if given.gpu_teraflops is not None and given.gpu_teraflops <= 0:
        raise UserError(f"--gpu-teraflops: {given.gpu_teraflops} is not above 0")
    print(shown(estimate(Plan(read_file(given.configfile))), given.gpu_teraflops))


if __name__ == "__main__":
    execute(main)
