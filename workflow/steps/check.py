"""Check a configuration before Snakemake reads it: an error is one line with the file and the key.

Snakemake reads YAML first, and names neither file nor line of what it cannot read.
"""

from __future__ import annotations

from workflow.runtime.command import execute, parser
from workflow.steps.arguments import add_configfile


def main() -> None:
    """Command line of the step."""
    from workflow.config.reading import read_file
    from workflow.planning.plan import Plan

    options = parser(__doc__)
    add_configfile(options)
    arguments = options.parse_args()
    plan = Plan.of(read_file(arguments.configfile))
    print(f"{arguments.configfile}: {len(plan.studies)} studies, {len(plan.runs)} runs")


if __name__ == "__main__":
    execute(main)
