"""How the tests start the workflow, and what they compare of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "workflow" / "configs" / "smoke.yaml"


def command(folder: Path, *options: str, config: Path = SMOKE) -> list[str]:
    snakemake = str(Path(sys.executable).parent / "snakemake")
    place = [
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--directory",
        str(folder),
        "--configfile",
        str(config),
    ]
    return [
        snakemake,
        *place,
        "--workflow-profile",
        str(ROOT / "profiles/default"),
        "--cores",
        "2",
        *options,
    ]


def run(folder: Path, *options: str, config: Path = SMOKE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *options, config=config), capture_output=True, text=True, timeout=600
    )


def short(folder: Path) -> Path:
    """The smoke configuration with two of its studies."""
    content = yaml.safe_load(SMOKE.read_text())
    content["studies"] = {name: content["studies"][name] for name in ("main", "corruption")}
    (folder / "short.yaml").write_text(yaml.safe_dump(content))
    return folder / "short.yaml"


def tables(folder: Path) -> dict[str, bytes]:
    paths = [
        path
        for kind in ("tables", "figures")
        for path in sorted((folder / "results" / kind).iterdir())
    ]
    return {
        path.name: path.read_bytes() for path in paths if ".cost." not in path.name
    }  # seconds are never the same
