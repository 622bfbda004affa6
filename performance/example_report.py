"""Writes the report of the reference run, and pictures of its first screen for README.md.

Needs Chromium: Debian's `chromium`, or the path in `NPT_CHROMIUM`.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from npt.data.preparation import prepare
from performance.machine import ROOT
from performance.study_tables import reference_study
from workflow.config.reading import read
from workflow.planning.plan import Plan
from workflow.report.files import write_figures
from workflow.report.page import render
from workflow.studies import kinds

PICTURES: dict[Any, Path] = {  # by color scheme
    "light": ROOT / "docs" / "report.png",
    "dark": ROOT / "docs" / "report_dark.png",
}
EXAMPLE = ROOT / "build" / "example" / "results"
SCREEN: Any = {"width": 1240, "height": 1250}  # down to the first table


def main() -> None:
    """Write report and pictures."""
    report = write_report(EXAMPLE)
    print(report)
    found = shutil.which("chromium") or shutil.which("google-chrome")
    chromium = os.environ.get("NPT_CHROMIUM") or found
    if chromium is None:
        sys.exit("Chromium is needed for the pictures: apt-get install chromium")
    take_pictures(report, chromium)


def write_report(results: Path) -> Path:
    """Write the report of the studies under `results/reference/quick`, with their figures."""
    figures = results / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    config = read(yaml.safe_load((ROOT / "config.yaml").read_text()))
    plan = Plan.of(config)
    studies = {}
    kind_names = {}
    for name, study in config.studies.items():
        studies[name] = reference_study(f"quick/{name}")
        kind_names[name] = study.kind
        write_figures(name, kinds()[study.kind], studies[name], config.scoring, figures)
    with tempfile.TemporaryDirectory() as downloads:
        prepared = [prepare(name, Path(downloads)) for name in plan.datasets]
    path = results / "report" / "index.html"
    path.parent.mkdir(exist_ok=True)
    page = render(
        studies,
        kind_names,
        config.scoring,
        config.preset,
        results,
        prepared,
        runs=list(plan.runs.values()),
    )
    path.write_text(page, encoding="utf-8")
    return path


def take_pictures(report: Path, chromium: str) -> None:
    """Photograph the first screen of a report in both color schemes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme, picture in PICTURES.items():
            page = browser.new_page(color_scheme=scheme, viewport=SCREEN)
            page.goto(report.as_uri())
            page.screenshot(path=picture)
            page.close()
            print(picture)
        browser.close()


if __name__ == "__main__":
    main()
