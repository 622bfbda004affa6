"""The registry of study kinds, and their options."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from baselines import baselines, methods
from npt.errors import UserError
from npt.validation import validated
from workflow.studies import kinds


def test_kinds_are_in_order() -> None:
    assert list(kinds())[:4] == ["benchmark", "corruption", "dose_response", "lookup"]


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [
        ("corruption", {"bins": 3}, "bins"),
        ("corruption", {"columns": ["labels"]}, "columns.*allowed: all, features, target"),
        ("corruption", {"rows": ["all", "query"]}, "rows.*allowed: all, train, validation, test"),
        ("corruption", {"rows": ["train", "train"]}, "rows"),
        ("dose_response", {"shuffle": [0.1, 1]}, "shuffle"),
        ("dose_response", {"delete": [0, 1]}, "delete"),
        ("deletion", {"tolerance": 0.2}, "tolerance"),
        ("context", {"shares": [0.5, 0.1]}, "shares"),
        ("context", {"shares": [1, 0]}, "shares"),
        ("lookup", {"compare_with": ["npt"]}, "compare_with"),
        ("lookup", {"compare_with": {"mlp": {"grid": "small"}}}, "compare_with.mlp.grid"),
        ("lookup", {"compare_with": {"mlp": {"grid": {"depth": [1]}}}}, "mlp.grid.depth"),
        ("lookup", {"compare_with": {"mlp": {"transductive": False}}}, "mlp.transductive"),
    ],
)
def test_wrong_options_are_refused(name: str, options: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError, match=key):
        validated(kinds()[name].options, options, "options")


def test_a_kind_has_the_name_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "misnamed"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from workflow.studies.study_kind import StudyKind\n"
        "KIND = StudyKind(name='corruption', title='', order=0)\n"
    )
    monkeypatch.setattr(sys.modules["workflow.studies"], "__path__", [str(tmp_path)])
    with pytest.raises(UserError, match=r"misnamed/__init__\.py: declares 'corruption'"):
        kinds.__wrapped__()
    sys.modules.pop("workflow.studies.misnamed")


def test_kinds_accept_the_methods_that_they_can_probe() -> None:
    able: dict[str, set[str]] = {}
    for kind in kinds().values():
        able[kind.name] = {method.name for method in methods().values() if kind.accepts(method)}
    stored = {name for name, baseline in baselines().items() if baseline.keeps_train_rows}
    row_models = {"npt", "npt_compact", *stored}
    processes = {name for name, method in methods().items() if method.realisations}
    assert able["processes"] == processes
    assert able["certificates"] == {"npt"}
    assert able["corruption"] == able["dose_response"] == set(methods()) - processes
    assert able["deletion"] == able["attention"] == able["lookup"] == row_models
    assert able["context"] == set(methods()) - processes
    context = kinds()["context"]
    assert {name for name, method in methods().items() if context.can_probe(method)} == row_models
    assert able["benchmark"] == set(methods())


@pytest.mark.parametrize(
    ("name", "options", "settings", "refusal"),
    [
        ("lookup", {}, {"lookup": "original"}, None),
        ("lookup", {}, {"lookup": "off"}, "not trained on the lookup task"),
        ("lookup", {}, {"grid": "quick"}, None),  # of a baseline, whose stored rows are replaced
        ("benefit", {}, {"lookup": "original"}, "trained on the lookup task"),
        ("context", {}, {"lookup": "add_one"}, "trained on the lookup task"),
        ("certificates", {}, {"lookup": "original"}, "trained on the lookup task"),
        ("certificates", {}, {"lookup": "off", "encoder": "linear"}, None),
        ("certificates", {}, {"encoder": "resnet18"}, "encoder resnet18 .* allowed: linear"),
        ("corruption", {}, {"encoder": "resnet18"}, None),
        ("corruption", {"columns": ["all", "target"]}, {"encoder": "linear"}, None),
        ("corruption", {"columns": ["all", "target"]}, {"encoder": "resnet18"}, "columns: target"),
    ],
)
def test_kinds_refuse_runs_that_they_cannot_probe(
    name: str, options: dict[str, Any], settings: dict[str, Any], refusal: str | None
) -> None:
    kind = kinds()[name]
    reason = kind.refuse(settings, kind.options.model_validate(options))
    assert (reason is None) if refusal is None else re.match(refusal, str(reason))
