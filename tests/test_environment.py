"""One set of versions everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def pins() -> dict[str, str]:
    lines = [line.strip() for line in (ROOT / "constraints.txt").read_text().splitlines()]
    found = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in found}


def test_every_requirement_is_pinned_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (Requirement(text) for group in groups for text in group):
        version = pins()[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_conda_users_get_the_pinned_versions() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pip[0] == "-c constraints.txt"
    assert pip[-1] == "-e .[cpu,data]"
    for entry in pip[1:-1]:
        name, version = entry.split("==")
        assert pins()[canonicalize_name(name)] == version, name
    listed = {canonicalize_name(entry.split("==")[0]) for entry in pip[1:-1]}
    assert {"torch", "snakemake", "catboost", "xgboost-cpu", "lightgbm", "pytorch-tabnet"} <= listed


def test_torch_is_pinned_to_what_its_index_calls_it() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", pins()["torch"])


def test_what_the_readme_tells_to_run_exists() -> None:
    text, targets = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    named = set(re.findall(r"\bmake ([a-z-]+)", text))
    assert {"run", "test"} <= named
    assert all(re.search(rf"^{name}:", targets, re.MULTILINE) for name in named)
    for path in re.findall(r"`((?:npt|baselines|workflow|tests)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
