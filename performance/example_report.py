"""Writes the report of the reference run, and the picture of one of its sections for README.md.

The picture needs Playwright and Chromium (`apt-get install chromium`).
"""

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
SECTION = "dose_response"
WIDTH = 860
MARGIN = 12


def main() -> None:
    """Write report and picture."""
    report = write_report(EXAMPLE)
    print(report)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium:
        take_picture(chromium, report)
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


def take_picture(chromium: str, report: Path) -> None:
    """Save the title, the finding and the figure of a section as a PNG."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": WIDTH})
        page.goto(report.as_uri())
        section = page.locator(f"section[aria-labelledby='{SECTION}']")
        top = section.bounding_box()
        figure = section.locator("figure").first.bounding_box()
        assert top and figure
        page.screenshot(
            path=PICTURE,
            full_page=True,
            clip={
                "x": top["x"] - MARGIN,
                "y": top["y"] - MARGIN,
                "width": top["width"] + 2 * MARGIN,
                "height": figure["y"] + figure["height"] - top["y"] + 2 * MARGIN,
            },
        )
        browser.close()


if __name__ == "__main__":
    main()
