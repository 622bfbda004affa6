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

import pandas as pd
import pytest

from tests.workflow.report.toy import FAILED, SCORING, benchmark_study
from workflow.planning.paths import run_rows
from workflow.planning.run import Run
from workflow.report.files import write_figures, write_tables
from workflow.report.page import render
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
KINDS = {"main": "benchmark", "corruption": "corruption", "lookup": "lookup"}
TABLE = "div[aria-label='Test scores on 2 datasets']"
RMSE = "th:nth-child(3)"
RUN = Run(dataset="yacht", method="knn", variant="base", seed=0, folds=(0, 1), settings={}, data="")
FIGURES = ("metrics", "cost", "corruption", "lookup")  # two datasets have no mean ranks


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
        kind = kinds()[KINDS[name]]
        write_figures(name, kind, study, SCORING, results / "figures")
        write_tables(name, kind, study, SCORING, "quick", results / "tables")
    path = results / "report" / "index.html"
    rows = results.parent / run_rows(RUN.stem)
    rows.parent.mkdir(parents=True)
    rows.touch()
    path.write_text(render(studies, KINDS, SCORING, "toy", results, [], runs=[RUN]))
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
        assert re.search(r"\d\.\d", whole.get_attribute("aria-label") or "")
        boxes = [drawing.bounding_box() for drawing in figure.locator("svg").all()]
        assert max(box["width"] for box in boxes if box) > 250


def test_panels_stand_below_each_other_on_a_phone(page: Any) -> None:
    panels = page.locator("figure", has_text="Quality against cost").locator(".panels svg")
    assert panels.count() == 3  # the last one is the legend
    is_phone = page.viewport_size == PHONE
    assert panels.first.is_visible() == is_phone
    if is_phone:
        first, second, _ = (panel.bounding_box() for panel in panels.all())
        assert first["x"] == second["x"]
        assert first["y"] + first["height"] <= second["y"]
        assert first["x"] + first["width"] <= PHONE["width"]


def test_no_two_parts_of_the_page_share_an_identifier(page: Any) -> None:
    names = page.eval_on_selector_all("[id]", "parts => parts.map(part => part.id)")
    assert len(set(names)) == len(names)


def test_first_screen_has_a_figure_and_a_table(page: Any) -> None:
    first = page.locator(".first")
    assert first.locator("figcaption").inner_text().startswith("Figure 1.")
    scores, shipped = first.locator("h3").all_inner_texts()
    assert scores.startswith("Table 1. Test scores on 2 datasets")
    assert "shipped" in shipped  # the exact NPT of the corruption has 200 updates
    assert page.locator(TABLE).count() == 1  # and no second time further below


def test_summary_is_shown(page: Any) -> None:
    summary = page.locator("#summary").inner_text()
    assert "How accurate are the models?" in summary
    assert "NPT has the best RMSE" in summary


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


def test_scores_lead_to_a_file_of_rows(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    link = page.locator(f"{TABLE} a.raw").first
    assert link.get_attribute("title")
    assert (report.parent / link.get_attribute("href")).is_file()
    assert link.evaluate("link => getComputedStyle(link).textDecorationLine") == "underline"
    page.close()


def test_text_columns_sort_by_name(page: Any) -> None:
    page.locator(f"{TABLE} th").first.locator("button").click()
    assert column(page, 1) == ["k-NN", "MLP", "NPT", "TabNet"]


def test_keyboard_reaches_the_summary(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_url("**#summary")


def test_keyboard_sorts_and_unfolds(page: Any) -> None:
    head = page.locator(f"{TABLE} {RMSE}")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    details = page.locator("details").first
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    assert details.evaluate("details => details.open")


def test_failures_are_listed(page: Any) -> None:
    assert FAILED["reason"] in page.locator("#failures + ul").inner_text()


def test_links_within_the_page_lead_somewhere(page: Any) -> None:
    targets = page.eval_on_selector_all("a[href^='#']", "links => links.map(link => link.hash)")
    assert len(targets) > 8
    for target in targets:
        assert page.locator(target).count() == 1, target


def test_page_follows_the_color_scheme(browser: Any, report: Path) -> None:
    brightness = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(report.as_uri())
        background = sum(colors(page, "backgroundColor"))
        assert abs(background - sum(colors(page, "color"))) > 450
        brightness[scheme] = background
        page.close()
    assert brightness["dark"] < 150
    assert brightness["light"] > 600


def test_tables_of_their_own_sort(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto((report.parents[1] / "tables" / "main.scores.html").as_uri())
    button = page.locator(f"{TABLE} {RMSE}").locator("button")
    button.click()
    button.click()
    assert column(page, 1) == ["MLP", "k-NN", "NPT", "TabNet"]
    page.close()


def test_text_of_figures_follows_the_color_scheme(browser: Any, report: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(report.as_uri())
    fills = page.eval_on_selector_all(
        ".drawing text", "texts => texts.map(text => getComputedStyle(text).fill)"
    )
    panels = page.locator(".panels svg").first
    assert panels.evaluate("svg => getComputedStyle(svg).fill") == fills[0]
    dark = [fill for fill in fills if sum(map(int, re.findall(r"\d+", fill)[:3])) < 200]
    assert len(fills) > 50
    assert dark == []
    page.close()


@pytest.fixture
def copied(browser: Any, report: Path) -> Iterator[Any]:
    """The page, whose clipboard is kept in a variable."""
    page = browser.new_page()
    page.goto(report.as_uri())
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', "
        "{value: {writeText: async (text) => { window.copied = text; }}})"
    )
    yield page
    page.close()


def test_tables_are_copied_without_their_files(copied: Any) -> None:
    bar = copied.locator(f"{TABLE} + .copy")
    bar.get_by_text("copy csv").click()
    frame = pd.read_csv(io.StringIO(copied.evaluate("copied")))
    assert list(frame["Method"]) == ["NPT", "k-NN", "MLP", "TabNet"]
    assert frame["Yacht, RMSE ↓"].iloc[0] == pytest.approx(0.51)
    assert frame["Yacht, RMSE ↓ (standard error)"].iloc[0] == pytest.approx(0.01)
    assert frame["Seconds per fold (s)"].dtype == float
    assert frame.iloc[:, 1:].dtypes.eq(float).all()
    bar.get_by_text("copy tex").click()
    lines = copied.evaluate("copied").splitlines()
    assert lines[0] == r"\begin{tabular}{lrrr}"
    assert lines[4].startswith(r"NPT & 0.510 $\pm$ 0.010 & \textbf{0.510 $\pm$ 0.010} &")


def test_filters_hide_rows_and_columns_and_stay_in_the_address(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    page.locator("#filter summary").click()
    page.get_by_label("MLP", exact=True).uncheck()
    page.get_by_label("Breast Cancer", exact=True).uncheck()
    again = browser.new_page()
    again.goto(page.url)
    for one in (page, again):
        shown = one.locator(f"{TABLE} tbody tr:not([hidden]) > :first-child").all_inner_texts()
        assert shown == ["NPT", "k-NN", "TabNet"]
        assert "hidden: MLP, Breast Cancer" in one.locator("#filter summary").inner_text()
        heads = one.locator(f"{TABLE} thead th:not([hidden])").all_inner_texts()
        assert not any("Breast Cancer" in head for head in heads)
    again.locator("a[href='#limits']").click()
    assert "hide=MLP" in again.url
    again.locator("#filter summary").click()
    again.get_by_label("MLP", exact=True).check()
    again.get_by_label("Breast Cancer", exact=True).check()
    assert "hide" not in again.url
    assert again.locator(f"{TABLE} tbody tr:not([hidden])").count() == 4
    page.close()
    again.close()


def test_filters_hide_empty_tables_and_means_over_all(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(f"{report.as_uri()}?hide=Breast+Cancer&hide=Yacht")
    shown = page.locator(".block:visible")
    assert shown.locator("h3:visible").count() == shown.count()
    for table in page.locator(".block table:visible").all():
        assert table.locator("tbody tr:not([hidden])").count()
        assert table.locator("th.number:not([hidden])").count()
    assert page.locator("th:visible", has_text=re.compile("rank|per fold")).count() == 0
    assert page.locator(f"{TABLE}:visible").count() == 0
    page.close()


def test_print_opens_all_folds(browser: Any, report: Path) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    closed = page.locator("main details:not([open])").count()
    assert closed > 1
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details:not([open])").count() == 1  # the filter, which is not printed
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details:not([open])").count() == closed
    page.close()
