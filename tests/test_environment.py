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
    """Version of every package of constraints.txt."""
    versions = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, separator, version = line.partition("==")
        if separator and not name.startswith("#"):
            versions[canonicalize_name(name.strip())] = version.strip()
    return versions


def test_every_requirement_is_pinned_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for group in groups:
        for requirement in map(Requirement, group):
            version = pins()[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), requirement


def test_conda_users_get_the_pinned_versions() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    first, *packages, last = environment["dependencies"][-1]["pip"]
    assert first == "-c constraints.txt"
    assert last == "-e .[cpu,data]"
    listed = dict(package.split("==") for package in packages)
    for name, version in listed.items():
        assert pins()[canonicalize_name(name)] == version, name
    assert {"torch", "snakemake", "catboost", "xgboost-cpu", "lightgbm"} <= set(listed)


def test_torch_is_pinned_without_a_local_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", pins()["torch"])
