"""A look at a reward function, as text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rlclinic.model.reward_review import Payment, RewardReview
from rlclinic.reports.page import Block, Listing, Quote, Section, Words
from rlclinic.reports.text import number, shorten
from rlclinic.reports.text_blocks import WIDTH, page_text

REWARD_SCHEMA = "rlclinic.reward/1"
SHOWN_WIDTH = 160


def reward_text(review: RewardReview, *, width: int = WIDTH, colour: bool = False) -> str:
    """The review for a terminal."""
    gold = (
        f"pays {number(review.gold)} for the right answer ({review.style})" if review.gold else "pays no right answer"
    )
    reason = f"{review.function} {gold}, tried on {review.problems} prompts."
    remarks: Block = (
        Listing(tuple(f"{item.severity.value}: {item.text}" for item in review.remarks))
        if review.remarks
        else Words("Only right answers are paid.")
    )
    sections = [Section("remarks", "Remarks", (remarks,)), Section("payments", "What is paid", _rows(review.payments))]
    return page_text(
        "Reward function", "", "good" if review.is_sound else "bad", reason, sections, width=width, colour=colour
    )


def reward_object(review: RewardReview) -> dict[str, Any]:
    """The object that `rlclinic examine --reward --json` prints."""
    return {"schema": REWARD_SCHEMA, "sound": review.is_sound, **asdict(review)}


def _rows(payments: tuple[Payment, ...]) -> tuple[Block, ...]:
    return tuple(Quote(_head(item), (shorten(item.example, SHOWN_WIDTH) or "(nothing)",)) for item in payments)


def _head(item: Payment) -> str:
    mean = "no number" if item.mean is None else f"mean {number(item.mean)}"
    problem = f"; {item.problem}" if item.problem else ""
    return f"{item.kind}: paid in {item.paid} of {item.tried} tries, {mean}{problem}"
