"""The paired comparison counts each run once and names what was right before."""

from __future__ import annotations

from bench.paired import Question, Row, _is_nearer, _merged, _page, _pair

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


def test_the_rows_of_one_kind_are_replaced_and_the_others_stay() -> None:
    def page(name: str, after: dict[str, object]) -> str:
        row = Row()
        row.add(_pair(Question(name, "a run", lambda told: told["verdict"] == "learning"), RIGHT, after))
        return _page("abc", "", {name: row})

    both = _merged(page("corpora: verdict", RIGHT), page("repair record: first change", WRONG), "repair record")
    assert "| corpora: verdict | 1 | 1 | 1 | 0 | 0 |\n| repair record: first change | 1 | 1 | 0 | 0 | 1 |\n" in both
    assert "\nRepair record: Written by " in both
    assert both.count("\n- ") == 1
    again = _merged(both, page("repair record: first change", RIGHT), "repair record")
    assert "| repair record: first change | 1 | 1 | 1 | 0 | 0 |" in again
    assert "\n- " not in again
    assert again.count("Written") == 2
    assert "\n\n\n" not in again
