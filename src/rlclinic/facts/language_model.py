"""How the score of a language model goes: training score and validation, judged by early against late thirds.

Scores of single batches are noisy and often move by a few points over a run, so a change counts in standard errors of
its own noise and must also be material.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.return_state import has_fallen
from rlclinic.facts.reward_parts import ANSWER, FORMAT, RewardPart, reward_parts
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.facts.window_noise import deviation
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import Series

MIN_POINTS = 12
MIN_VALIDATIONS = 4
# Validations that show that a score stands still; a fall needs fewer.
ENOUGH_VALIDATIONS = 6
# Parts of the reward that held-out prompts earn.
HELD_OUT = "reward_eval/"
# Standard errors that a change must measure. Batches resemble their neighbours, so errors count double.
SIGNIFICANT = 2.5
INFLATION = 2.0
# Share of the size of a metric that a change must measure to matter.
MATERIAL = 0.01
# Share of the best single score from which on little is left to learn.
NEAR_CEILING = 0.9
# Share of what it paid early below which a part of the reward is given up.
GIVEN_UP = 0.3
# Share of what it paid that a part for right answers, which is the task itself, may lose to chance or harder prompts.
ANSWER_LOST = 0.1
# Spreads of its early level by which a length must change to be another one.
BEYOND_NOISE = 4.0
# Rise of the share of cut responses that shows a drift to the cap.
CUT_MORE = 0.15
# Share of the entropy that healthy runs keep: theirs falls by 64 to 89%.
COLLAPSED = 0.1
# What tells the form beside parts of the reward.
FORM = frozenset({"valid_actions", "format_failures"})
# Share of its best level that the form of responses keeps by chance or on harder prompts.
FORM_KEPT = 0.75
# Share of responses from which on something is said of most of them.
MOSTLY = 0.5
# Passes through the prompts from which on an answer may be remembered.
REPEATED = 2.0
# Factor by which responses may grow or shrink and still be of the same length.
SAME_LENGTH = 1.6
# Share of a run that counts as its early and as its late level.
WINDOW = 0.15


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """Mean of the first and the last third, and the change in standard errors."""

    start: float
    end: float
    errors: float
    points: int

    @property
    def rises(self) -> bool:
        return self.errors > SIGNIFICANT and self._matters

    @property
    def falls(self) -> bool:
        return self.errors < -SIGNIFICANT and self._matters

    @property
    def _matters(self) -> bool:
        return abs(self.end - self.start) > MATERIAL * max(abs(self.start), abs(self.end))


def score_change(series: Series | None, fewest: int = MIN_POINTS, since: float = 0.0) -> ScoreChange | None:
    """The change of a series from its first to its last third; None where it is too short.

    `since` leaves out a share of the points at the beginning.
    """
    if series is None:
        return None
    values = series.values[np.isfinite(series.values)]
    values = values[int(since * values.size) :]
    if values.size < fewest:
        return None
    third = max(1, values.size // 3)
    start, end = float(np.mean(values[:third])), float(np.mean(values[-third:]))
    steps = np.diff(values)
    # Where most batches are alike, as of a score that is nearly always 0, the middle step says nothing.
    noise = (deviation(steps) or float(np.std(steps))) / np.sqrt(2.0)
    error = max(INFLATION * noise * np.sqrt(2.0 / third), 1e-9 * max(abs(start), abs(end), 1e-12))
    return ScoreChange(start, end, float((end - start) / error), int(values.size))


def training(facts: RunFacts) -> ScoreChange | None:
    """The change of the raw task score."""
    return score_change(facts.series("return/train"))


def validation(facts: RunFacts) -> ScoreChange | None:
    """The change of the held-out score."""
    return score_change(facts.series("return/eval"), MIN_VALIDATIONS)


def is_progressing(facts: RunFacts) -> bool:
    """Whether the validation, or else the training score, rises and has not been lost again."""
    held_out, score = validation(facts), training(facts)
    if held_out is not None and held_out.rises:
        return True
    return score is not None and score.rises and not has_fallen(facts)


def is_falling(facts: RunFacts) -> bool:
    """Whether the score falls, or lost what it had gained, and validation does not say otherwise."""
    held_out, score = validation(facts), training(facts)
    if score is None or (held_out is not None and held_out.rises):
        return False
    return score.falls or has_fallen(facts)


def part_given_up(facts: RunFacts) -> RewardPart | None:
    """A part of the reward that paid well and now pays far less, while the whole rises."""
    score, held_out, tried = training(facts), validation(facts), facts.series("return/eval")
    if score is None or not score.rises:
        return None
    tried_parts = reward_parts(facts, HELD_OUT, MIN_VALIDATIONS)
    rising = {part.series.name.removeprefix(HELD_OUT) for part in tried_parts if _rises(part.series)}
    for part in (*tried_parts, *reward_parts(facts)):
        family, _, name = part.series.name.partition("/")
        if name in rising:
            continue
        is_answer = pays_for_answers(part)
        # An evaluation of the whole reward rises with whatever makes the reward rise.
        of_whole = is_answer and tried is not None and "reward" in tried.logged_as
        if held_out is not None and held_out.rises and not of_whole and family == "reward":
            continue
        values = part.series.values[np.isfinite(part.series.values)]
        # From point to point: the fall itself is no noise.
        noise = float(np.std(np.diff(values))) / np.sqrt(2.0)
        error = INFLATION * noise * np.sqrt(1.0 / part.early_points + 1.0 / part.late_points)
        if 0.0 <= part.late < least_kept(part) and part.first - part.late > SIGNIFICANT * error:
            return part
    return None


def _rises(validations: Series) -> bool:
    change = score_change(validations, MIN_VALIDATIONS)
    return change is not None and change.rises


def pays_for_answers(part: RewardPart) -> bool:
    """Whether a part pays for a right answer rather than for its form."""
    return bool(ANSWER.search(part.series.logged_as)) and not FORMAT.search(part.series.logged_as)


def least_kept(part: RewardPart) -> float:
    """What a part must still pay not to be given up."""
    return (1.0 - ANSWER_LOST if pays_for_answers(part) else GIVEN_UP) * part.first


def gamed_unseen(facts: RunFacts) -> str:
    """What moves with a training score that rises while nothing held out tells whether the task is learned; or ""."""
    score = training(facts)
    if score is None or not score.rises or any("eval" in name for name in facts.run.series):
        return ""
    length, entropy, cut = (change(facts, name) for name in ("response_length", "entropy", "truncated_fraction"))
    if length is not None and length[0].value > 0.0:
        early, late = length
        grew = max(late.value / early.value, early.value / max(late.value, 1e-9))
        if grew >= SAME_LENGTH and abs(late.value - early.value) > BEYOND_NOISE * early.spread:
            return f"responses went from {early.value:.4g} to {late.value:.4g} tokens"
    if (
        cut is not None
        and not facts.run.series["truncated_fraction"].caveat
        and cut[1].value - cut[0].value >= CUT_MORE
    ):
        return f"{cut[1].value:.0%} of the responses are cut at the cap, {cut[0].value:.0%} early on"
    # Where the groups agree there is nothing left to try.
    agreed = facts.late("zero_variance_groups", WINDOW)
    room = not is_near_ceiling(facts) and (agreed is None or agreed.value < MOSTLY)
    if room and entropy is not None and 0.0 <= entropy[1].value < COLLAPSED * entropy[0].value:
        return f"the entropy went from {entropy[0].value:.3g} to {entropy[1].value:.3g}"
    parts = [(part, score_change(part.series)) for part in reward_parts(facts) if pays_for_answers(part)]
    still = next(
        (part for part, change in parts if change is not None and not change.rises and part.late < part.best), None
    )
    return f"{still.series.logged_as}, which pays for right answers, did not rise" if still is not None else ""


def form_lost(facts: RunFacts) -> tuple[Series, float, float] | None:
    """What tells that responses lost their form, with its best and its late level; none where most are cut anyway."""
    cut = facts.late("truncated_fraction", WINDOW)
    if cut is not None and cut.value >= MOSTLY:
        return None
    parts = (part.series for part in reward_parts(facts) if FORMAT.search(part.series.logged_as))
    named = (series for name, series in facts.run.series.items() if name.partition("/")[0] in FORM)
    for series in (*parts, *named):
        values = series.values[np.isfinite(series.values)]
        if values.size < MIN_POINTS or values.min() < 0.0 or values.max() > 1.0:
            continue
        kept = 1.0 - values if series.name.startswith("format_failures") else values
        window = max(3, values.size // 8)
        levels = np.convolve(kept, np.ones(window) / window, "valid")
        best, late = float(levels.max()), float(levels[-1])
        noise = float(np.std(np.diff(kept))) / np.sqrt(window)
        if late < FORM_KEPT * best and best - late > SIGNIFICANT * INFLATION * noise:
            return series, best, late
    return None


def is_stalled(facts: RunFacts) -> bool:
    """Whether neither score nor validation rises any more over the second half, and there is room above."""
    score = score_change(facts.series("return/train"), since=0.5)
    held_out = score_change(facts.series("return/eval"), MIN_VALIDATIONS, since=0.5)
    return score is not None and not score.rises and not (held_out is not None and held_out.rises)


def validation_lags(facts: RunFacts) -> bool:
    """Whether enough validations show that the held-out score does not rise, and it is not near 1 already."""
    held_out = validation(facts)
    if held_out is None or held_out.rises or NEAR_CEILING <= held_out.end <= 1.0:
        return False
    return held_out.falls or held_out.points >= ENOUGH_VALIDATIONS


def passes(facts: RunFacts) -> float | None:
    """How often the run went through its prompts, as far as its epoch tells: some count from 0."""
    series = facts.series("epoch")
    return None if series is None else series.last


def memorised(facts: RunFacts) -> bool:
    """Whether the training score rises over repeated prompts and validation does not, with no sign of a gamed reward.

    A verifier that can be fooled is fooled on fresh prompts too: that shows in the first pass already.
    """
    score, held_out, times = training(facts), validation(facts), passes(facts)
    if score is None or held_out is None or times is None or times < REPEATED or not score.rises:
        return False
    if held_out.rises or not (held_out.falls or validation_lags(facts)) or part_given_up(facts) is not None:
        return False
    length = change(facts, "response_length")
    return length is None or 1.0 / SAME_LENGTH < length[1].value / max(length[0].value, 1e-9) < SAME_LENGTH


def is_near_ceiling(facts: RunFacts) -> bool:
    """Whether the mean score is close to the best single score, as far as that is logged."""
    score, best = training(facts), facts.series("return/train_max")
    if score is None or best is None or best.highest is None or best.highest <= 0:
        return False
    return score.end >= NEAR_CEILING * best.highest


def told(facts: RunFacts) -> str:
    """The score in words, for a summary."""
    score, held_out = training(facts), validation(facts)
    if score is None:
        return "the score is not known"
    text = f"the score went from {score.start:.3g} to {score.end:.3g}"
    return text if held_out is None else f"{text}, validation from {held_out.start:.3g} to {held_out.end:.3g}"


def change(facts: RunFacts, name: str) -> tuple[WindowLevel, WindowLevel] | None:
    """Early and late level of a metric with enough points."""
    series = facts.series(name)
    early, late = facts.early(name, WINDOW), facts.late(name, WINDOW)
    if series is None or early is None or late is None or len(series) < MIN_POINTS:
        return None
    return early, late
