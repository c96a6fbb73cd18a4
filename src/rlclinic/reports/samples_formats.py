"""A look at logged responses, as text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rlclinic.model.samples import Sample, SampleReview
from rlclinic.reports.page import Block, Listing, Quote, Section, Words
from rlclinic.reports.text import number, shorten
from rlclinic.reports.text_blocks import WIDTH, page_text

SAMPLES_SCHEMA = "rlclinic.samples/1"
SHOWN_WIDTH = 400
NONE = "Nothing stands out: no loops, no empty or equal responses, and length does not pay."
NO_REWARD = "Nothing stands out: no loops, no empty or equal responses. Without rewards nothing is known of what pays."


def samples_text(review: SampleReview, *, width: int = WIDTH, colour: bool = False) -> str:
    """The review for a terminal."""
    steps = f", steps {number(review.steps[0])} to {number(review.steps[1])}" if review.steps else ""
    reward = f", mean reward {number(review.mean_reward)}" if review.mean_reward is not None else ""
    reason = f"{review.count:,} responses{steps}{reward}, {review.mean_words:.0f} words each on average."
    sections = [Section(item.name, item.text[0].upper() + item.text[1:], _rows(item.rows)) for item in review.remarks]
    if not sections:
        sections = [Section("none", "Remarks", (Words(NONE if review.mean_reward is not None else NO_REWARD),))]
    if review.notes:
        sections.append(Section("notes", "Notes", (Listing(review.notes),)))
    return page_text("Logged responses", "", "good", reason, sections, width=width, colour=colour)


def samples_object(review: SampleReview) -> dict[str, Any]:
    """The object that `rlclinic samples --json` prints."""
    return {"schema": SAMPLES_SCHEMA, **asdict(review)}


def _rows(rows: tuple[Sample, ...]) -> tuple[Block, ...]:
    return tuple(Quote(_head(item), (shorten(item.response, SHOWN_WIDTH),)) for item in rows) or (Words("No rows."),)


def _head(item: Sample) -> str:
    reward = "no reward" if item.reward is None else f"reward {number(item.reward)}"
    prompt = f", asked: {shorten(item.prompt[-SHOWN_WIDTH:], 80)}" if item.prompt else ""
    return f"{item.where}, {reward}{prompt}"
