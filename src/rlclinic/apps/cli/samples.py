"""`rlclinic samples`: the logged responses that are worth reading."""

from __future__ import annotations

from pathlib import Path

import click

from rlclinic.apps.cli.output import deliver, terminal_width, wants_colour
from rlclinic.apps.cli.reading import FILE


@click.command()
@click.argument("path", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
def samples(path: Path, as_json: bool, output: Path | None) -> None:
    """Look at the responses that a language-model training logged, and show the rows worth reading.

    PATH is a run folder or a JSONL file with prompts, responses and rewards (verl's trainer.rollout_data_dir, TRL's
    completions). Loops, empty and equal responses, texts that are paid for every prompt, length that pays and responses
    that are paid without the usual format are counted, with examples. Secrets are redacted. Exit codes: 0, 2 a missing
    path, 5 no responses.
    """
    from rlclinic.facts.samples import review_samples
    from rlclinic.readers.samples import read_samples
    from rlclinic.reports.samples_formats import samples_object, samples_text

    review = review_samples(*read_samples(path))
    shown = samples_object(review) if as_json else samples_text(review, width=terminal_width(), colour=wants_colour())
    deliver(shown, output)
