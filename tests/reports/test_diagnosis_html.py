"""The HTML report: well-formed, self-contained, small, and nothing of a run is ever markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reports.diagnosis_html import diagnosis_fragment, diagnosis_html
from tests.reports.cases import CASES, collapsed, healthy
from tests.reports.hostile import ATTACKS, hostile_diagnosis

VOID = {"meta", "br", "hr", "img", "input", "link", "path"}
# Every element and attribute that the report itself writes.
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "div", "header", "h1", "h2", "h3", "span", "p", "section", "dl",
    "dt", "dd", "code", "figure", "figcaption", "svg", "path", "text", "circle", "ul", "ol", "li", "table", "thead",
    "tbody", "tr", "th", "td", "article", "pre", "details", "summary", "footer", "main", "nav", "a",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "viewbox", "role", "aria-label", "aria-hidden",
    "d", "x", "y", "cx", "cy", "r", "text-anchor", "style", "open", "scope", "tabindex", "href",
}  # fmt: skip
FAR = re.compile(r"(?:src|href|url|@import|xlink)\s*[=(]", re.IGNORECASE)


class Reader(HTMLParser):
    """Checks nesting and collects what the document holds."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.errors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        names = [name for name, _ in attrs]
        self.attributes.update(names)
        if len(names) != len(set(names)):
            self.errors.append(f"{tag} repeats an attribute")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def parsed(document: str) -> Reader:
    reader = Reader()
    reader.feed(document)
    reader.close()
    return reader


@pytest.mark.parametrize("name", CASES)
def test_the_document_is_well_formed_and_needs_nothing_else(name: str) -> None:
    document = diagnosis_html(CASES[name]())
    reader = parsed(document)
    assert reader.errors == []
    assert reader.open == []
    assert set(reader.elements) <= ELEMENTS
    assert reader.attributes <= ATTRIBUTES
    assert not FAR.search(document.replace('href="#', ""))
    assert document.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_a_run_becomes_markup(attack: str) -> None:
    reader = parsed(diagnosis_html(hostile_diagnosis(attack)))
    assert reader.errors == []
    assert reader.open == []
    assert set(reader.elements) <= ELEMENTS
    assert reader.attributes <= ATTRIBUTES
    assert reader.elements.count("style") == 2
    assert all(char.isprintable() or char == "\n" for text in reader.text for char in text)


def test_a_hostile_name_is_shown_as_it_is() -> None:
    document = diagnosis_html(hostile_diagnosis("<script>alert(1)</script>"))
    assert "<script" not in document
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in document
    assert "<script>alert(1)</script>" in "".join(parsed(document).text)


def test_scripts_and_loading_are_forbidden_as_a_second_lock() -> None:
    assert "default-src 'none'" in diagnosis_html(collapsed())


def test_it_says_what_the_terminal_says() -> None:
    words = " ".join("".join(parsed(diagnosis_html(collapsed())).text).split())
    for part in (
        "Collapsed: the return climbed from 22.1 to 89.1",
        "never reached it: at best 387.7 below it",
        "largest before the fall: 1.66, above the limit of 0.3",
        "Most likely: steps so large that policy or critic is destroyed (61%).",
        "Lower learning_rate from 0.05 to 0.001.",
        "20 to 55% fewer steps to the threshold (a guess: no trial of this change yet)",
        "log grad_norm (gradient norm): OPT01, OPT02",
    ):
        assert part in words


def test_findings_are_marked_on_the_curves_and_in_the_legend() -> None:
    document = diagnosis_html(collapsed())
    returns, _, rest = document.partition('id="metrics"')
    assert returns.count('<path class="mark error"') == 3, "for a wide screen, for a phone, and in the legend"
    assert "POL04 since step 4,864: One update moves the policy too far" in returns
    own = [figure for figure in rest.split("<figure>") if figure.startswith("<figcaption>approx_kl ")]
    assert len(own) == 1
    assert 'class="mark error"' in own[0]
    assert "POL01" not in own[0]
    other = [figure for figure in rest.split("<figure>") if figure.startswith("<figcaption>value_loss ")]
    assert 'class="mark' not in other[0]


def test_the_threshold_and_both_returns_are_drawn() -> None:
    document = diagnosis_html(healthy())
    assert '<path class="goal"' in document
    assert "threshold 475" in document
    assert 'class="line line-1"' in document
    assert "return/eval (eval/mean_reward)" in document


def test_the_config_is_there() -> None:
    document = diagnosis_html(healthy())
    table = document.partition('<div id="config">')[2]
    assert "<code>gae_lambda</code>" in table
    assert "best_model.zip" in table


def test_a_long_run_gives_a_small_file_with_twelve_curves() -> None:
    steps = np.arange(100_000.0)
    noise = np.random.default_rng(0)
    names = ["return/train", "value_loss", "entropy", "approx_kl", "policy_loss", "grad_norm", "clip_fraction"]
    names += [f"grad_norm/part{index}" for index in range(23)]
    series = {name: Series(name, name, steps, noise.normal(size=steps.size), known=True) for name in names}
    run = Run("long", "long", series=series, steps=steps[-1], algorithm="PPO")
    document = diagnosis_html(Diagnosis(run, Verdict.LEARNING, "it learns"))
    assert document.count('<path class="line line-0" d="M') == 12 + 2  # a phone has its own, and the legend shows one
    assert len(document.encode()) < 300_000


def test_every_probability_has_a_bar_of_its_size() -> None:
    document = diagnosis_html(collapsed())
    assert re.findall(r"width:([\d.]+)%\"></span></span><span class=\"share\">([^<]*)<", document) == [
        ("61.0", "61%"),
        ("17.0", "17%"),
        ("12.0", "12%"),
    ]


def test_a_fragment_can_stand_inside_a_page() -> None:
    fragment = diagnosis_fragment(collapsed())
    reader = parsed(fragment)
    assert reader.errors == []
    assert not {"html", "head", "body", "main"} & set(reader.elements)
    styles = fragment.partition("<style>")[2].partition("</style>")[0]
    rules = re.sub(r"@media[^{]*", "", styles)
    selectors = [part for group in re.findall(r"(?:^|[{}])([^{}]+)\{", rules) for part in group.split(",")]
    assert selectors
    assert [selector for selector in selectors if not selector.strip().startswith(".rlclinic")] == []


def test_a_run_without_metrics_has_a_page_too() -> None:
    bare = Diagnosis(Run("bare", "bare"), Verdict.INSUFFICIENT_DATA, "nothing was logged")
    assert parsed(diagnosis_html(bare)).errors == []
    assert "<svg" not in diagnosis_html(replace(bare, reason="x"))


def test_the_answer_and_the_curve_are_open_and_the_rest_is_folded_and_says_what_it_holds() -> None:
    document = diagnosis_html(collapsed())
    parts = re.findall(r"<details( open)?><summary><h2>([^<]+)</h2>(?: <span class=\"held\">([^<]*)</span>)?", document)
    assert [title for is_open, title, _ in parts if is_open] == ["Performance"]
    held = {title: words for _, title, words in parts}
    assert held["Findings"] == "1 error, 1 warning, 1 note"
    assert held["Root cause"].startswith("Most likely: ")
    assert document.index('class="answer"') < document.index("<details")
