"""The paired comparison counts each run once and names what was right before."""

from __future__ import annotations

from bench.paired import Question, Row, _is_nearer, _pair

RIGHT = {"verdict": "learning", "causes": [["nothing-wrong", 0.9, 0.9, 0.9, None]]}
WRONG = {"verdict": "unstable", "causes": []}


def test_a_row_counts_both_directions_and_names_the_losses() -> None:
    row = Row()
    for before, after in ((RIGHT, RIGHT), (RIGHT, WRONG), (WRONG, RIGHT), (WRONG, RIGHT)):
        question = Question("verdict", "a run", lambda told: told["verdict"] == "learning")
        row.add(_pair(question, before, after))
    assert row.line("verdict") == "| verdict | 4 | 2 | 3 | 2 | 1 |"
    assert row.losses == ["a run: learning, nothing-wrong 0.90 -> unstable, no cause; reason not known"]


def test_advice_is_right_where_it_comes_nearer_to_the_healthy_value() -> None:
    assert _is_nearer({"from": 0.1, "to": 0.001}, 0.0003)
    assert not _is_nearer({"from": 0.001, "to": 0.1}, 0.0003)
    assert _is_nearer({"from": "relu", "to": "tanh"}, "tanh")
