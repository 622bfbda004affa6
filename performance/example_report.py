"""Writes the report of the reference run, and one of its figures for README.md."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from performance.machine import ROOT
from performance.study_tables import reference_study
from workflow.config.reading import read
from workflow.report.files import write_figures
from workflow.report.page import render
from workflow.studies import kinds

PICTURE = ROOT / "docs" / "report.png"
EXAMPLE = ROOT / "build" / "example" / "results"
FIGURE = "dose_response.dose_response.png"


def main() -> None:
    """Write report and figure."""
    report = write_report(EXAMPLE)
    print(report)
    shutil.copyfile(EXAMPLE / "figures" / FIGURE, PICTURE)
    print(PICTURE)


def write_report(results: Path) -> Path:
    """Write the report of the studies under `results/reference/quick`, with their figures."""
    figures = results / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    config = read(yaml.safe_load((ROOT / "config.yaml").read_text()))
    studies = {}
    kind_names = {}
    for name, study in config.studies.items():
        studies[name] = reference_study(f"quick/{name}")
        kind_names[name] = study.kind
        write_figures(name, kinds()[study.kind], studies[name], config.scoring, figures)
    path = results / "report" / "index.html"
    path.parent.mkdir(exist_ok=True)
    page = render(studies, kind_names, config.scoring, config.preset, results, [])
    path.write_text(page, encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
