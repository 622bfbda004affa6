"""Acquire a dataset, check it, and write its table and folds."""

from __future__ import annotations

from npt.data import store
from npt.data.custom import CustomDataset
from npt.data.custom.reading import prepare_custom
from npt.data.preparation import prepare_declared
from npt.data.source import DOWNLOADS
from npt.errors import UserError, require_known
from workflow.planning import paths
from workflow.planning.kept import load
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("--dataset", required=True, help="a dataset of the plan")
    arguments = options.parse_args()
    plan = load()
    require_known(arguments.dataset, plan.datasets, "--dataset")
    dataset = plan.dataset(arguments.dataset)
    if isinstance(dataset, CustomDataset):
        prepared = prepare_custom(dataset, DOWNLOADS)
    else:
        prepared = prepare_declared(dataset, DOWNLOADS)
    if prepared.facts["fingerprint"] != plan.dataset_fingerprints[arguments.dataset]:
        raise UserError(f"{arguments.dataset}: changed since the run began; run again")
    store.save(paths.prepared(arguments.dataset), prepared)
    facts = dict(prepared.facts)
    description = facts.pop("description", [])
    for line in (*(f"{name}: {value}" for name, value in facts.items()), *description):
        print(line)


if __name__ == "__main__":
    execute(main)
