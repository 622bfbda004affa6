"""Print the jobs of a configuration by method, and the operations of NPT's training steps.

Operations are counted on tensors without content; evaluations and probes come on top.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

from workflow.runtime.command import execute, parser

COLUMNS = ["jobs", "probes", "PFLOP"]


def main() -> None:
    """Command line of the step."""
    import pandas as pd

    from baselines import methods
    from workflow.config.reading import read_file
    from workflow.planning.plan import Plan

    options = parser(__doc__)
    options.add_argument("--configfile", type=Path, default="config.yaml", help="configuration")
    plan = Plan.from_config(read_file(options.parse_args().configfile))

    @cache
    def flop(dataset_name: str, method_name: str, settings: str) -> int:
        """Operations of all updates of a training, whose settings are JSON."""
        dataset = plan.dataset(dataset_name)
        method = methods()[method_name]
        typed = method.settings.model_validate_json(settings)
        image = getattr(dataset, "image", None)
        update_flop = resolve_name(method.update_flop)
        return typed.updates * update_flop(typed, dataset.rows, dataset.columns, image)

    counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for run in plan.runs.values():
        count = counts[run.method]
        count["jobs"] += 1
        if plan.probes_of(run):
            count["probes"] += 1
        if methods()[run.method].update_flop:
            for training in run.trainings:
                operations = flop(run.dataset, run.method, json.dumps(training.settings))
                count["PFLOP"] += len(run.folds) * operations / 1e15
    table = pd.DataFrame.from_dict(counts, orient="index").reindex(columns=COLUMNS)
    table.loc["all"] = table.sum()
    table = table.astype(object).where(table.notna(), None)
    print(table.to_markdown(floatfmt=("", ".0f", ".0f", ".3g"), missingval=""))


if __name__ == "__main__":
    execute(main)
