"""Print the jobs of a configuration by method, and the operations of its networks' training steps.

Operations are counted on tensors without content; evaluations and probes come on top.
"""

from __future__ import annotations

from collections import Counter

from workflow.runtime.command import execute, parser
from workflow.steps.arguments import add_configfile

COLUMNS = ("jobs", "probes", "PFLOP")


def main() -> None:
    """Command line of the step."""
    import pandas as pd

    from baselines import methods
    from workflow.config.method_settings import typed_settings
    from workflow.config.reading import read_file
    from workflow.planning.plan import Plan

    options = parser(__doc__)
    add_configfile(options)
    plan = Plan.of(read_file(options.parse_args().configfile))
    counts: dict[str, Counter[str]] = {}
    flop_of_fold: dict[str, float] = {}
    for run in plan.runs.values():
        count = counts.setdefault(run.method, Counter())
        count["jobs"] += 1 + len(plan.part_files(run))
        method = methods()[run.method]
        if method.update_flop is None:
            continue
        if run.key not in flop_of_fold:
            dataset = plan.dataset(run.dataset)
            image = getattr(dataset, "image", None)
            flop_of_fold[run.key] = 0.0
            for training in run.trainings:
                settings = typed_settings(run.method, training.settings, run.stem)
                flop = method.update_flop(settings, dataset.rows, dataset.columns, image)
                flop_of_fold[run.key] += settings.updates * flop
        count["PFLOP"] += len(run.folds) * flop_of_fold[run.key] / 1e15  # type: ignore[assignment]
    for study in plan.studies.values():
        for run in plan.probed_runs_of(study):
            counts[run.method]["probes"] += 1
    table = pd.DataFrame.from_dict(counts, orient="index").reindex(columns=COLUMNS)
    table.loc["all"] = table.sum()
    table = table.astype(object).where(table.notna(), None)
    print(table.to_markdown(floatfmt=("", ".0f", ".0f", ".3g"), missingval=""))


if __name__ == "__main__":
    execute(main)
