"""The page in a real browser: it needs nothing but itself, sorts, folds, and fits a phone.

Debian's `chromium` is taken where there is one (or what `NPT_CHROMIUM` names).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.workflow.report.toy import SCORING, benchmark_study
from tests.workflow.studies.frames import corruption_study, lookup_study
from workflow.report.files import write_figures
from workflow.report.html import html
from workflow.report.page import render
from workflow.studies import kinds

CHROMIUM = (
    os.environ.get("NPT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium is installed (apt-get install chromium)"
)
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of three toy studies, one of them with a failure."""
    results = tmp_path_factory.mktemp("page") / "results"
    (results / "figures").mkdir(parents=True)
    (results / "report").mkdir()
    kind_names = {"main": "benchmark", "corruption": "corruption", "lookup": "lookup"}
    third = benchmark_study().query("method == 'knn'").assign(method="mlp")
    third[["test_rmse", "test_auroc"]] *= 100
    main = pd.concat([benchmark_study(), third], ignore_index=True)
    frames = {"main": main, "corruption": corruption_study(), "lookup": lookup_study()}
    for name, kind in kind_names.items():
        write_figures(name, kinds()[kind], frames[name], SCORING, results / "figures")
    path = results / "report" / "index.html"
    page = render(frames, kind_names, SCORING, "toy", results, [])
    path.write_text(page, encoding="utf-8")
    metrics = kinds()["benchmark"].table("metrics", main, SCORING)
    (path.parent / "table.html").write_text(html(metrics, "Metrics", "toy"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def page(request: pytest.FixtureRequest, browser: Any, page_file: Path) -> Iterator[Any]:
    context = browser.new_context(viewport=request.param)
    opened = context.new_page()
    opened.problems, opened.asked = [], []
    opened.on("console", lambda message: opened.problems.append(message.text))
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("request", lambda asked: opened.asked.append(asked.url))
    opened.goto(page_file.as_uri())
    yield opened
    assert opened.problems == []
    context.close()


def column(page: Any, table: str, place: int) -> list[str]:
    return page.locator(f"{table} tbody tr td:nth-child({place})").all_inner_texts()


def test_it_asks_for_nothing_and_shows_its_pictures(page: Any, page_file: Path) -> None:
    page.wait_for_load_state("networkidle")
    assert [url for url in page.asked if not url.startswith("data:")] == [page_file.as_uri()]
    sizes = page.eval_on_selector_all("img", "images => images.map(image => image.naturalWidth)")
    assert len(sizes) == 6 and min(sizes) > 300
    assert "Mean rank among 3 methods over 2 datasets" in page.locator("#summary").inner_text()


def test_nothing_is_wider_than_the_screen(page: Any) -> None:
    for folded in page.locator("details > summary").all():
        folded.click()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_a_click_sorts_up_down_and_back(page: Any) -> None:
    table = "div[aria-label='Regression: test RMSE (lower is better)']"
    head = page.locator(f"{table} th").nth(1)
    before = column(page, table, 2)
    assert [text[:4] for text in before] == ["0.51", "0.61", "61.0"]
    orders = []
    for state in ("ascending", "descending", None):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == state
        orders.append(column(page, table, 2))
    assert orders == [before, before[::-1], before]
    page.locator(f"{table} th").first.locator("button").click()
    assert column(page, table, 1) == ["k-NN", "MLP", "NPT"]


def test_dashes_come_last_whichever_way(page: Any) -> None:
    page.evaluate(
        """() => {
            const label = "Regression: test RMSE (lower is better)";
            const cell = document.querySelector(`div[aria-label='${label}'] td.number`);
            cell.dataset.key = "";
            cell.textContent = "–";
        }"""
    )
    table = "div[aria-label='Regression: test RMSE (lower is better)']"
    for _ in range(2):
        page.locator(f"{table} th").nth(1).locator("button").click()
        assert column(page, table, 2)[-1] == "–"


def test_the_keyboard_reaches_the_answer_the_heads_and_the_folds(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#summary")
    head = page.locator("div[aria-label='Regression: test RMSE (lower is better)'] th").nth(1)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    fold = page.locator("details").first
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    assert fold.evaluate("fold => fold.open")


def test_what_failed_is_told_and_every_link_inside_leads_somewhere(page: Any) -> None:
    assert "training failed" in page.locator("#failures + ul").inner_text()
    targets = page.eval_on_selector_all("a[href^='#']", "links => links.map(link => link.hash)")
    assert len(targets) > 8
    assert all(page.locator(target).count() == 1 for target in targets)


def test_it_is_dark_where_the_reader_wants_it_dark(browser: Any, page_file: Path) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        opened = browser.new_page(color_scheme=scheme)
        opened.goto(page_file.as_uri())
        shades[scheme] = opened.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        )
        ink = opened.evaluate("getComputedStyle(document.body).color.match(/\\d+/g).map(Number)")
        assert abs(sum(ink) - sum(shades[scheme])) > 450
        opened.close()
    assert sum(shades["dark"][:3]) < 150 < 600 < sum(shades["light"][:3])


def test_a_table_of_its_own_sorts_too(browser: Any, page_file: Path) -> None:
    opened = browser.new_page()
    opened.goto((page_file.parent / "table.html").as_uri())
    table = "div[aria-label='Regression: test RMSE (lower is better)']"
    button = opened.locator(f"{table} th").nth(1).locator("button")
    button.click()
    button.click()
    assert column(opened, table, 1) == ["MLP", "k-NN", "NPT"]
    opened.close()
