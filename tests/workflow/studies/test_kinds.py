"""The registry of study kinds, and their options."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from baselines import baselines, methods
from npt.errors import UserError
from npt.validation import validated
from workflow.studies import kinds

PROBES = [kind.name for kind in kinds().values() if kind.probes]


def test_kinds_are_in_the_order_of_the_summary() -> None:
    assert list(kinds())[:4] == ["benchmark", "corruption", "dose_response", "lookup"]
    assert set(kinds()) >= {"ablation", "attention", "deletion"}


def test_listing_the_kinds_imports_nothing_heavy() -> None:
    code = "import sys; from workflow.studies import kinds; kinds(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"torch", "sklearn", "pandas", "matplotlib"} & set(done.stdout.split())


@pytest.mark.parametrize("name", PROBES)
def test_default_options_are_valid(name: str) -> None:
    options = validated(kinds()[name].options, {}, "options")
    assert validated(kinds()[name].options, options.model_dump(), "options") == options


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [
        ("corruption", {"bins": 3}, "bins"),
        ("corruption", {"columns": ["labels"]}, "columns.*allowed: all, features, target"),
        ("corruption", {"rows": ["all", "query"]}, "rows.*allowed: all, train, validation, test"),
        ("corruption", {"rows": ["train", "train"]}, "rows"),
        ("corruption", {"permutations": 0}, "permutations"),
        ("dose_response", {"shuffle": [0.1, 1]}, "shuffle"),
        ("dose_response", {"delete": [0, 1]}, "delete"),
        ("deletion", {"tolerance": 0.2}, "tolerance"),
        ("deletion", {"growth": 1.0}, "growth"),
        ("context", {"shares": [0.5, 0.1]}, "shares"),
        ("context", {"shares": [1, 0]}, "shares"),
        ("lookup", {"compare_with": ["npt"]}, "compare_with"),
        ("lookup", {"compare_with": [["mlp"]]}, "compare_with"),
        ("lookup", {"compare_with": {"mlp": {"grid": "small"}}}, "compare_with.mlp.grid"),
        ("lookup", {"compare_with": {"mlp": {"grid": {"depth": [1]}}}}, "mlp.grid.depth"),
        ("lookup", {"compare_with": {"mlp": {"transductive": False}}}, "mlp.transductive"),
    ],
)
def test_wrong_options_are_refused(
    name: str,
    options: dict[str, Any],
    key: str,
) -> None:
    with pytest.raises(UserError, match=key):
        validated(kinds()[name].options, options, "options")


def test_kinds_accept_the_methods_that_they_can_probe() -> None:
    able = {kind: _probed(kind) for kind in PROBES}
    row_models = {"npt", "npt_compact"}
    for name, baseline in baselines().items():
        if baseline.keeps_train_rows:
            row_models.add(name)
    processes = {name for name, method in methods().items() if method.realisations}
    assert able["processes"] == processes
    assert able["corruption"] == able["dose_response"] == set(methods()) - processes
    for kind in ("deletion", "attention", "lookup"):
        assert able[kind] == row_models
    assert able["context"] == set(methods()) - processes
    context = kinds()["context"]
    assert {name for name, method in methods().items() if context.can_probe(method)} == row_models
    assert _probed("benchmark") == set(methods())


def _probed(kind: str) -> set[str]:
    return {method.name for method in methods().values() if kinds()[kind].accepts(method)}


def test_lookup_refuses_models_of_the_plain_task() -> None:
    lookup = kinds()["lookup"]
    options = lookup.options()
    assert lookup.refuse({"lookup": "original"}, options) is None
    assert lookup.refuse({"lookup": "off"}, options)
    # a baseline, whose stored rows are replaced
    assert lookup.refuse({"grid": "quick"}, options) is None


def test_corruption_refuses_some_columns_of_encoded_images() -> None:
    corruption = kinds()["corruption"]
    every = corruption.options()
    some = corruption.options(columns=["all", "target"])
    encoded = {"encoder": "resnet18"}
    assert corruption.refuse(encoded, every) is None
    assert corruption.refuse({"encoder": "linear"}, some) is None
    assert corruption.refuse({"lookup": "off"}, some) is None
    refusal = corruption.refuse(encoded, some)
    assert refusal is not None
    assert refusal.startswith("columns: target")


@pytest.mark.parametrize("name", kinds())
def test_figures_have_captions(name: str) -> None:
    kind = kinds()[name]
    for figure in kind.figures:
        assert len(kind.view.caption(figure)) > 40
