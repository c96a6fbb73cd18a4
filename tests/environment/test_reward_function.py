"""Reward functions on answers whose worth is known: which of them are paid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.environment.reward_answers import Problem, tried_answers, wrong_answer
from rlclinic.environment.reward_function import review_reward
from rlclinic.model.errors import UsageError
from rlclinic.model.finding import Severity
from rlclinic.model.reward_review import RewardReview

FUNCTIONS = r"""
import os, re

def strict(data_source, solution_str, ground_truth, extra_info=None):
    found = re.findall(r"<answer>(.*?)</answer>", solution_str, re.S)
    return 1.0 if len(found) == 1 and found[0].strip() == ground_truth else 0.0

def lax(completions, answer, **kwargs):
    return [1.0 if gold in text else 0.0 for text, gold in zip(completions, answer)]

def form(completions, **kwargs):
    return [1.0 if "<answer>" in text else 0.0 for text in completions]

def tagged(response, answer):
    found = re.search(r"<answer>(.*?)</answer>", response, re.S)
    return 0.2 + 0.8 * (found.group(1) == answer) if found else 0.0

def long_winded(response, answer):
    return tagged(response, answer) + 0.3 * (len(response) > 100)

def whole_numbers(response, answer):
    return float(re.findall(r"<answer>(-?\d+)</answer>", response) == [answer])

def gsm8k(response, answer):
    found = re.findall(r"####\s*(-?[\d,]+)", response)
    return float(bool(found) and found[-1] == answer.split("####")[-1].strip())

def fragile(response, answer):
    return float(response.split("<answer>")[1].split("</answer>")[0] == answer)

def deaf(response, answer):
    return 0.0

def deadly(response, answer):
    os._exit(3) if not response else None
    return float(answer in response)
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rewards_under_test.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def _paid(review: RewardReview) -> set[str]:
    return {payment.kind for payment in review.payments if payment.paid}


@pytest.mark.usefixtures("functions")
def test_a_strict_verifier_pays_the_right_answer_alone() -> None:
    review = review_reward("rewards_under_test:strict")
    assert review.style.startswith("answer tags")
    assert _paid(review) == {"gold"}
    assert review.is_sound
    assert not review.remarks


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(
    ("name", "paid", "words"),
    [
        ("lax", "many answers", "many answers: paid"),
        ("form", "format only", "format only: paid"),
    ],
)
def test_what_a_verifier_pays_by_mistake_is_named(name: str, paid: str, words: str) -> None:
    review = review_reward(f"rewards_under_test:{name}")
    assert paid in _paid(review)
    assert any(words in remark.text for remark in review.remarks)


@pytest.mark.usefixtures("functions")
def test_a_share_for_the_form_is_a_note() -> None:
    review = review_reward("rewards_under_test:tagged")
    assert review.is_sound
    assert any("20% of what the right answer gets" in remark.text for remark in review.remarks)


@pytest.mark.usefixtures("functions")
def test_what_gets_more_than_the_form_without_an_answer_is_a_warning() -> None:
    review = review_reward("rewards_under_test:long_winded")
    [remark] = [remark for remark in review.remarks if "repeated" in remark.text]
    assert (remark.severity, remark.text) == (Severity.WARNING, "repeated: 30% of what the right answer gets")


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(
    ("name", "words"),
    [("fragile", "raises IndexError"), ("deaf", "no form of the right answer is paid"), ("deadly", "the process died")],
)
def test_a_function_that_fails_is_told(name: str, words: str) -> None:
    review = review_reward(f"rewards_under_test:{name}")
    assert not review.is_sound
    assert any(words in remark.text for remark in review.remarks)


@pytest.mark.usefixtures("functions")
def test_a_function_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        review_reward("rewards_under_test:missing")


@pytest.mark.usefixtures("functions")
def test_examine_takes_prompts_of_ones_own(tmp_path: Path) -> None:
    rows = [{"prompt": "Capital of Peru?", "reward_model": {"ground_truth": "Lima"}}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ["examine", "--reward", "rewards_under_test:strict", "--samples", "rows.jsonl", "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert (told["schema"], told["problems"]) == ("rlclinic.reward/1", 1)
    assert "Lima" in told["payments"][0]["example"]
    bad = CliRunner().invoke(app, ["examine", "--reward", "rewards_under_test:form"])
    assert bad.exit_code == 1
    assert "What is paid" in bad.output


@pytest.mark.usefixtures("functions")
def test_a_verifier_of_worked_solutions_is_not_accused() -> None:
    problems = [
        Problem(f"Tom has {n} and buys 7.", f"He has {n}+7=<<{n}+7={n + 7}>>{n + 7}\n#### {n + 7}") for n in (0, 8)
    ]
    review = review_reward("rewards_under_test:gsm8k", problems)
    assert _paid(review) == {"gold"}
    assert review.is_sound


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("42", "43"),
        ("1,000", "1,001"),
        ("x = 7", "x = 8"),
        ("\\frac{1}{2}", "\\frac{1}{3}"),
        ("5 cm^2", "6 cm^2"),
        ("(B)", "(C)"),
        ("Yes", "no"),
        ("Paris", "siraP-1"),
        ("level", None),
        ("x+y", None),
        ("It was built by the French in 1889", None),
    ],
)
def test_a_wrong_answer_differs_in_its_final_value_or_is_none(right: str, wrong: str | None) -> None:
    assert wrong_answer(right) == wrong


def test_what_still_states_the_right_answer_is_not_tried() -> None:
    tried = tried_answers(Problem("What is 7 + 0?", "7", "7 + 0 = 7, so it is 7"), "as in the samples")
    assert not {"wrong", "truncated", "prompt echoed"} & set(tried)


@pytest.mark.usefixtures("functions")
def test_a_right_answer_that_is_not_paid_is_a_finding(tmp_path: Path) -> None:
    mixed = [Problem("What is 12 + 30?", "42"), Problem("Name the capital of France.", "Paris")]
    for problems, unpaid, is_sound in (([], "1 of 3", True), (mixed, "1 of 2", False)):
        review = review_reward("rewards_under_test:whole_numbers", problems)
        assert review.is_sound is is_sound
        assert any(f"{unpaid} right answers are not paid" in remark.text for remark in review.remarks)
    # A rollout dump of verl names the right answers gts.
    row = {"input": "What is 12 + 30?", "output": "<answer>42</answer>", "gts": "42", "score": 1.0, "step": 1}
    (tmp_path / "1.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    arguments = ["examine", "--reward", "rewards_under_test:whole_numbers", "--samples", "1.jsonl", "--json"]
    told = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert not [remark for remark in told["remarks"] if "right answers" in remark["text"]]
