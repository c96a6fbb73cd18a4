"""What only a browser shows: the first screen on a desk and on a phone, overflow, contrast, and hover."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.diagnosis_html import diagnosis_html
from rlclinic.reports.formats import Context, find_format, render
from tests.conftest import diagnosis_of
from tests.reports.cases import collapsed, healthy, suspected_bug

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def named(name: str) -> Diagnosis:
    found = collapsed()
    return replace(found, run=replace(found.run, id=name))


CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
SIZES = {"desk": (1200, 800), "phone": (400, 800)}
PAGES = {
    "collapsed": lambda: diagnosis_html(collapsed()),
    "healthy": lambda: diagnosis_html(healthy()),
    "suspected_bug": lambda: diagnosis_html(suspected_bug()),
    "recorded": lambda: diagnosis_html(diagnosis_of("faults/coin_pay_ppo_cartpole")),
    "overview": lambda: render(find_format("html"), [named("CartPole-ppo-20261120-013318-251d"), healthy()], Context()),
}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs playwright")
    if not CHROMIUM:
        pytest.skip("no chromium: apt-get install chromium, or name one in CHROMIUM")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def shown(browser: Any, tmp_path: Path, name: str, size: str = "desk", scheme: str = "light") -> Any:
    path = tmp_path / "page.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    width, height = SIZES[size]
    # Axe is a script, which the page itself forbids.
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True, java_script_enabled=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("size", SIZES)
def test_verdict_cause_and_change_stand_on_the_first_screen(browser: Any, tmp_path: Path, size: str) -> None:
    page = shown(browser, tmp_path, "collapsed", size)
    height = SIZES[size][1]
    for label in ("Verdict", "Cause", "Change"):
        box = page.locator(".answer dt", has_text=label).first.bounding_box()
        assert box["y"] + box["height"] < height, label
    assert page.locator(".verdict").bounding_box()["y"] < 100


def test_a_phone_shows_every_column_of_the_overview(browser: Any, tmp_path: Path) -> None:
    box = shown(browser, tmp_path, "overview", "phone").locator("#runs table").bounding_box()
    assert box["x"] + box["width"] <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows_and_axe_finds_nothing(
    browser: Any, tmp_path: Path, name: str, size: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = shown(browser, tmp_path, name, size, scheme)
    assert page.evaluate(OVERFLOW) <= 0
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate(OVERFLOW) <= 0
    found = axe.Axe().run(page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"][:100]) for item in found] == []


def test_a_phone_gets_its_own_chart_that_fits_and_a_desk_does_not(browser: Any, tmp_path: Path) -> None:
    phone = shown(browser, tmp_path, "collapsed", "phone")
    assert phone.locator(".phone svg").bounding_box()["width"] <= 400
    assert not phone.locator("div.wide").is_visible()
    assert phone.locator(".phone svg text.mark").count() >= 1
    desk = shown(browser, tmp_path, "collapsed", "desk")
    assert not desk.locator(".phone").is_visible()


def test_the_pointer_on_a_curve_finds_its_value(browser: Any, tmp_path: Path) -> None:
    page = shown(browser, tmp_path, "collapsed")
    told = page.locator("div.wide .told")
    assert told.count() >= 20
    assert "at step" in (told.first.locator("title").text_content() or "")


def test_the_contents_lead_to_parts_that_fold(browser: Any, tmp_path: Path) -> None:
    page = shown(browser, tmp_path, "collapsed")
    for link in page.locator("nav a").all():
        assert page.locator(f"details > {link.get_attribute('href')}").count() == 1
    assert not page.locator("#path ol").is_visible()
    assert page.locator("#performance").is_visible()
    page.locator("nav a[href='#path']").click()
    assert page.locator("#path ol").is_visible()
    page.locator("details:has(> #path) summary").click()
    assert not page.locator("#path ol").is_visible()


def test_no_backtick_is_shown(browser: Any, tmp_path: Path) -> None:
    assert "`" not in shown(browser, tmp_path, "recorded").locator("body").inner_text()
