"""Logged responses: what stands out is counted with examples, and ordinary ones get no remark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlclinic.facts.samples import repetition, review_samples
from rlclinic.model.errors import NothingReadable
from rlclinic.readers import samples
from rlclinic.readers.samples import read_samples
from rlclinic.reports.samples_formats import samples_text
from tests.growth import grows_linearly


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def _rows(count: int = 60) -> list[dict[str, Any]]:
    """Answers of different length, half of them right, whatever their length."""
    rng = np.random.default_rng(0)
    vocabulary = [f"word{number}" for number in range(400)]
    return [
        {
            "input": f"question {number // 4}",
            "output": " ".join(rng.choice(vocabulary, rng.integers(20, 60))) + f" <answer>{number}</answer>",
            "score": float(rng.integers(2)),
            "step": number // 20,
        }
        for number in range(count)
    ]


def _names(path: Path) -> set[str]:
    return {remark.name for remark in review_samples(*read_samples(path)).remarks}


def test_ordinary_responses_get_no_remark(tmp_path: Path) -> None:
    path = _write(tmp_path / "1.jsonl", _rows())
    found = review_samples(*read_samples(path))
    assert found.count == 60
    assert found.steps == (0.0, 2.0)
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("repetition", "so the answer is " * 30),
        ("near-empty", "."),
        ("equal-in-group", "<answer>equal</answer> for all of them"),
    ],
)
def test_odd_responses_are_counted_with_examples(tmp_path: Path, name: str, output: str) -> None:
    rows = _rows()
    for row in rows[:8]:
        row["output"] = output
    found = review_samples(*read_samples(_write(tmp_path / "1.jsonl", rows)))
    remark = next(item for item in found.remarks if item.name == name)
    assert remark.share == pytest.approx(8 / 60)
    assert remark.rows[0].response == output


def test_one_text_that_is_paid_for_every_prompt_is_named(tmp_path: Path) -> None:
    rows = _rows()
    for row in rows[::4]:
        row |= {"output": "I agree, great question. <answer>yes</answer>", "score": 1.0}
    assert "same-answer-paid" in _names(_write(tmp_path / "1.jsonl", rows))


def test_full_pay_without_the_usual_format_is_named(tmp_path: Path) -> None:
    rows = [{**row, "score": float(number % 2)} for number, row in enumerate(_rows())]
    rows[1]["output"] = "the verifier liked this for no reason at all"
    assert "paid-without-format" in _names(_write(tmp_path / "1.jsonl", rows))


def test_length_that_pays_is_named_with_its_size(tmp_path: Path) -> None:
    rows = [{**row, "score": len(row["output"]) / 500.0} for row in _rows()]
    found = review_samples(*read_samples(_write(tmp_path / "1.jsonl", rows)))
    remark = next(item for item in found.remarks if item.name == "length-pays")
    assert remark.share > 0.9


def test_without_rewards_nothing_is_said_of_what_pays(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "score"} for row in _rows()]
    told = samples_text(review_samples(*read_samples(_write(tmp_path / "1.jsonl", rows))))
    assert "Nothing stands out" in told
    assert "length does not pay" not in told


def test_answers_of_one_word_are_no_empty_ones(tmp_path: Path) -> None:
    rows = [{**row, "output": str(number)} for number, row in enumerate(_rows())]
    assert _names(_write(tmp_path / "1.jsonl", rows)) == set()


def test_chats_torn_lines_and_foreign_rows_are_taken_as_they_are(tmp_path: Path) -> None:
    chat = {"prompt": [{"role": "user", "content": "2+2?"}], "completion": [{"role": "assistant", "content": "4"}]}
    path = tmp_path / "completions.jsonl"
    path.write_text(json.dumps(chat) + '\n{"loss": 0.1}\n[1, 2]\n{"prompt": "x", "compl', encoding="utf-8")
    found, notes = read_samples(path)
    assert [(item.prompt, item.response) for item in found] == [("2+2?", "4")]
    assert notes == ("completions.jsonl: 3 of 4 rows hold no response",)


def test_secrets_in_responses_are_redacted(tmp_path: Path) -> None:
    row = {"input": "q", "output": "use api_key=sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD", "score": 1.0}
    found, _ = read_samples(_write(tmp_path / "1.jsonl", [row]))
    assert "abcdefghijklmnop" not in found[0].response


def test_a_folder_without_responses_is_said_to_have_none(tmp_path: Path) -> None:
    _write(tmp_path / "metrics.jsonl", [{"step": 1, "loss": 0.5}])
    with pytest.raises(NothingReadable, match="no logged responses"):
        read_samples(tmp_path)


def test_repetition_is_the_share_of_phrases_said_before() -> None:
    assert repetition("one two three") == 0.0
    assert repetition("a b c d " * 50) > 0.95
    assert repetition(" ".join(map(str, range(100)))) == 0.0


def test_tags_that_never_close_take_linear_time(tmp_path: Path) -> None:
    def work(size: int) -> object:
        rows = [{"input": "a", "output": "<answer> <think>" * (size // 16), "score": score} for score in (0.0, 1.0)]
        return review_samples(*read_samples(_write(tmp_path / "1.jsonl", rows)))

    assert grows_linearly(work, 100_000)


def test_more_than_the_limit_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MOST_BYTES", 12_000)
    for name in ("1.jsonl", "2.jsonl"):
        _write(tmp_path / name, _rows())
    (tmp_path / "samples.json").write_text(json.dumps(_rows()), encoding="utf-8")
    found, notes = read_samples(tmp_path)
    assert 0 < len(found) < 120
    assert any("only the first" in note for note in notes)
    with pytest.raises(NothingReadable):
        read_samples(tmp_path / "samples.json")
