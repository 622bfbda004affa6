"""The report in a real browser: self-contained, sortable, foldable, and readable on a phone.

Needs Chromium (Debian's `chromium`, or the path in `NPT_CHROMIUM`).
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.workflow.report.toy import FAILED, SCORING, benchmark_study
from workflow.config.models import StudyConfig
from workflow.report.files import write_figures, write_tables
from workflow.report.page import render
from workflow.report.study import reported_studies
from workflow.report.summary import reference_study
from workflow.studies import kinds

CHROMIUM = (
    os.environ.get("NPT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed (apt-get install chromium)"
)
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
BLOCKS = {
    "main": StudyConfig(),
    "corruption": StudyConfig(kind="corruption"),
    "lookup": StudyConfig(kind="lookup"),
}
TABLE = "#table-1 + .wide"
RMSE = "th:nth-child(3)"
FIGURES = ("intervention",)  # two datasets have no mean ranks


def main_study() -> pd.DataFrame:
    """NPT, k-NN, an MLP that is much worse, and a TabNet without results."""
    study = benchmark_study()
    knn = study[study["method"] == "knn"]
    worse = knn.assign(method="mlp")
    worse[["test_rmse", "test_auroc"]] *= 100
    failed = knn.assign(method="tabnet", test_rmse=None, test_auroc=None, **FAILED)
    return pd.concat([study, worse, failed], ignore_index=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of three studies; one method failed."""
    results = tmp_path_factory.mktemp("page") / "results"
    studies = {
        "main": main_study(),
        "corruption": reference_study("quick/corruption"),
        "lookup": reference_study("mechanisms/lookup"),
    }
    for folder in ("figures", "tables", "report"):
        (results / folder).mkdir(parents=True)
    for name, study in studies.items():
        view = kinds()[BLOCKS[name].kind].view
        write_figures(results / "figures" / name, view, study, SCORING)
        write_tables(results / "tables" / name, view, study, SCORING)
    path = results / "report" / "index.html"
    reported = reported_studies(studies, BLOCKS, SCORING)
    path.write_text(render(reported, SCORING, "toy", results, []))
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def page(
    request: pytest.FixtureRequest,
    browser: Any,
    report: Path,
) -> Iterator[Any]:
    """The open report; it may not write to the console."""
    context = browser.new_context(viewport=request.param)
    opened = context.new_page()
    opened.problems = []
    opened.requests = []
    opened.on("console", lambda message: opened.problems.append(message.text))
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("request", lambda sent: opened.requests.append(sent.url))
    opened.goto(report.as_uri())
    yield opened
    assert opened.problems == []
    context.close()


def column(page: Any, number: int) -> list[str]:
    return page.locator(f"{TABLE} tbody tr > :nth-child({number})").all_inner_texts()


def colors(page: Any, style: str) -> list[float]:
    script = f"getComputedStyle(document.body).{style}.match(/\\d+/g).map(Number)"
    return page.evaluate(script)[:3]


def test_page_loads_nothing_else(page: Any, report: Path) -> None:
    page.wait_for_load_state("networkidle")
    loaded = [url for url in page.requests if not url.startswith("data:")]
    assert loaded == [report.as_uri()]


def test_figures_are_shown(page: Any) -> None:
    figures = page.locator("figure")
    assert figures.count() == len(FIGURES)
    for figure in figures.all():
        whole = figure.locator("svg[role=img]")
        assert whole.locator("text").count() > 5
        assert len(whole.get_attribute("aria-label") or "") > 50
        boxes = [drawing.bounding_box() for drawing in figure.locator("svg").all()]
        assert max(box["width"] for box in boxes if box) > 250


def test_no_two_parts_of_the_page_share_an_identifier(page: Any) -> None:
    names = page.eval_on_selector_all("[id]", "parts => parts.map(part => part.id)")
    assert len(set(names)) == len(names)


def test_page_fits_the_screen(page: Any) -> None:
    for folded in page.locator("details > summary").all():
        folded.click()
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0


def test_clicks_sort_up_down_and_back(page: Any) -> None:
    original = column(page, 3)
    assert [text[:4] for text in original] == ["0.51", "0.61", "61.0", "–"]
    *values, dash = original
    head = page.locator(f"{TABLE} {RMSE}")
    orders = {}
    for state in ("ascending", "descending", None):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == state
        orders[state] = column(page, 3)
    assert orders["ascending"] == original
    assert orders["descending"] == [*reversed(values), dash]
    assert orders[None] == original


def test_first_click_sorts_the_best_first(page: Any) -> None:
    head = page.locator(f"{TABLE} th", has_text="AUROC")
    for state in ("descending", "ascending", None):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == state


def test_keyboard_sorts_and_unfolds(page: Any) -> None:
    head = page.locator(f"{TABLE} {RMSE}")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    details = page.locator("details:not([open])").first.element_handle()
    details.query_selector("summary").focus()
    page.keyboard.press("Enter")
    assert details.evaluate("details => details.open")


def test_failures_are_listed(page: Any) -> None:
    assert FAILED["reason"] in page.locator("details[open] ul").inner_text()


def test_links_within_the_page_lead_somewhere(page: Any) -> None:
    targets = page.eval_on_selector_all("a[href^='#']", "links => links.map(link => link.hash)")
    assert len(targets) > 4
    for target in targets:
        assert page.locator(target).count() == 1, target


def test_page_and_figures_follow_the_color_scheme(browser: Any, report: Path) -> None:
    brightness = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(report.as_uri())
        background = sum(colors(page, "backgroundColor"))
        assert abs(background - sum(colors(page, "color"))) > 450
        brightness[scheme] = background
    assert brightness["dark"] < 150
    assert brightness["light"] > 600
    fills = page.eval_on_selector_all(
        ".drawing text", "texts => texts.map(text => getComputedStyle(text).fill)"
    )
    assert len(fills) > 20
    for fill in fills:
        assert sum(map(int, re.findall(r"\d+", fill)[:3])) >= 200


def test_tables_are_copied_without_their_files(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', "
        "{value: {writeText: async (text) => { window.copied = text; }}})"
    )
    page.locator(f"{TABLE} + .copy").click()
    frame = pd.read_csv(io.StringIO(page.evaluate("copied")))
    assert list(frame["Method"]) == ["NPT", "k-NN", "MLP", "TabNet"]
    assert frame["Yacht, RMSE ↓"].iloc[0] == pytest.approx(0.51)
    assert frame["Yacht, RMSE ↓ (error or upper end)"].iloc[0] == pytest.approx(0.01)
    assert all(np.issubdtype(dtype, np.number) for dtype in frame.dtypes.iloc[1:])


def test_print_opens_all_folds(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    closed = page.locator("main details:not([open])").count()
    assert closed > 1
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details:not([open])").count() == 0
