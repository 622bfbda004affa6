"""Twins of a study: planned once, shared with other studies, probed nowhere."""

from typing import Any

import pytest

from baselines import methods
from npt.errors import UserError
from npt.method import Method
from tests import rows
from tests.workflow.planning.test_snakemake_inputs import Wildcards
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import Jobs

NPT = {"width": 16, "layers": 4, "heads": 4, "target_mask": 0.5}
TWINS = {"without_datapoints", "without_labels", "without_attributes"}
DECLARING = [method for method in methods().values() if method.twins]


def plan(**changes: Any) -> Plan:
    content = {"folds": 0, "datasets": ["yacht"], "methods": ["npt", "knn"]}
    studies = {"main": {}, "benefit": {"kind": "benefit"}}
    return rows.plan(**{**content, "settings": {"npt": NPT}, "studies": studies, **changes})


@pytest.mark.parametrize("method", DECLARING, ids=lambda method: method.name)
def test_twins_are_other_valid_settings(method: Method) -> None:
    settings = []
    for changes in ({}, *method.twins.values()):
        settings.append(method.settings(**{**method.test_settings, **changes}))
    assert all(settings.count(twin) == 1 for twin in settings)


def test_twins_of_a_method_are_runs() -> None:
    made = plan()
    variants = {(run.method, run.variant) for run in made.runs.values()}
    assert variants == {("knn", "base"), ("npt", "base"), *(("npt", twin) for twin in TWINS)}
    twin = made.runs["yacht/npt/without_labels/seed_0/folds_0"]
    assert twin.settings["target_mask"] == 1
    assert twin.settings["width"] == 16


def test_base_is_its_own_twin_where_it_lacks_a_source() -> None:
    made = plan(methods=["npt"], settings={"npt": {**NPT, "target_mask": 1}})
    variants = {run.variant for run in made.runs.values()}
    assert variants == {"base", "without_datapoints", "without_attributes"}


def test_base_alone_is_probed() -> None:
    made = plan()
    probed = {stem for stem, run in made.runs.items() if made.probes_of(run)}
    assert probed == {"yacht/npt/base/seed_0/folds_0", "yacht/knn/base/seed_0/folds_0"}
    jobs = Jobs(made)
    files = jobs.study_files(Wildcards(study="benefit"))
    twin = "yacht/npt/without_labels/seed_0/folds_0"
    assert {paths.run_rows(twin), paths.run_predictions(twin)} < set(files)
    for stem in probed:
        assert paths.probes(stem) in files
        assert paths.run_rows(stem) not in files
    targets = [target for target in jobs.targets if target.is_relative_to("results/probes")]
    assert len(targets) == len(set(targets)) == len(probed)


@pytest.mark.parametrize(
    ("study", "settings", "key"),
    [
        ({"variants": {"npt": {"wide": {"width": 32}}}}, {}, ".variants"),
        ({"include_base": False}, {}, ".include_base"),
        ({"methods": ["knn"]}, {}, ".methods"),
        ({"tuned": True}, {}, ".tuned"),
        ({"options": {"permutations": 0}}, {}, ".options.permutations"),
        ({}, {"between_datapoints": False}, ": without_datapoints of npt"),
        ({}, {"lookup": "original", "target_mask": 1}, ".methods: npt (base)"),
    ],
)
def test_study_without_valid_twins_is_refused(
    study: dict[str, Any], settings: dict[str, Any], key: str
) -> None:
    studies = {"benefit": {"kind": "benefit", **study}}
    with pytest.raises(UserError) as error:
        plan(studies=studies, settings={"npt": {**NPT, **settings}})
    assert str(error.value).startswith(f"studies.benefit{key}")


def test_variant_with_the_name_of_a_twin_is_the_twin() -> None:
    other = {"npt": {"without_labels": {"layers": 2}}}
    ablation = {"kind": "ablation", "methods": ["npt"], "variants": other}
    with pytest.raises(UserError, match=r"^studies\.benefit: without_labels of npt"):
        plan(studies={"ablation": ablation, "benefit": {"kind": "benefit"}})
