"""Pictures of what was measured about an environment: returns of policies, effects of actions, histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlclinic.model.environment_facts import EnvironmentFacts, Episode
from rlclinic.reports.examination import MOST_ROWS
from rlclinic.reports.html_blocks import legend_key, text_html
from rlclinic.reports.text import number

BAR = 160.0
HISTOGRAM = (120.0, 36.0)
COURSE = (480.0, 120.0)
MOST_LINES = 5
"""Components of the reward that are drawn, beside the reward itself."""


def environment_pictures(env: EnvironmentFacts | None) -> str:
    """Returns of the panel, effects of actions and histograms, as HTML."""
    if env is None or env.observation is None:
        return ""
    parts = []
    if len(env.panel) > 1:
        parts.append(bars_html("Mean return of each policy", [(one.name, one.mean) for one in env.panel]))
    if env.action is not None and env.action.effects:
        effects = [(one.name, one.observation) for one in env.action.effects[:MOST_ROWS]]
        parts.append(bars_html("Effect of each action on the observation, in spreads", effects))
    if env.reward is not None and env.reward.components:
        shares = [(part.name, part.share) for part in env.reward.components]
        parts.append(bars_html("Share of each component in the variance of the reward", shares))
    parts += [_episode(one) for one in env.shown]
    seen = env.observation
    drawn = "".join(
        f"<figure>{_histogram(bins)}<figcaption>{text_html(name)} "
        f"<span>{number(low)} to {number(high)}</span></figcaption></figure>"
        for name, bins, (low, high) in list(zip(seen.names, seen.histograms, seen.ranges, strict=False))[:MOST_ROWS]
    )
    return "".join(parts) + (f'<h3>Numbers of the observation</h3><div class="charts">{drawn}</div>' if drawn else "")


def _episode(one: Episode) -> str:
    """What an episode paid up to each step, in all and by component, and what it looked like."""
    series = list(one.course.items())[:MOST_LINES]
    ends = [value for _, values in series for value in values if math.isfinite(value)]
    if not ends:
        return ""
    low, high = min(ends), max(max(ends), min(ends) + 1e-9)
    width, height = COURSE
    lines, keys = [], []
    for at, (name, values) in enumerate(series):
        step = width / max(len(values) - 1, 1)
        points = " ".join(
            f"{step * place:.1f},{height - 2 - (height - 4) * (float(np.nan_to_num(value)) - low) / (high - low):.1f}"
            for place, value in enumerate(values)
        )
        lines.append(f'<polyline class="line line-{at}" fill="none" points="{points}"/>')
        keys.append(legend_key(f"line line-{at}", f"{name}: {number(values[-1])}"))
    frames = "".join(
        f'<img alt="{text_html(one.label)} episode, picture {at + 1}" src="data:image/png;base64,{text_html(frame)}">'
        for at, frame in enumerate(one.frames)
    )
    end = "terminated" if one.terminated else "cut"
    title = f"The {one.label} episode of the {one.policy} policy: {number(one.total)} in {one.length} steps, {end}"
    svg = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" aria-hidden="true">{"".join(lines)}</svg>'
    caption = "<figcaption>Reward summed up to each step</figcaption>"
    legend = f'<ul class="legend">{"".join(keys)}</ul>'
    return f"<h3>{text_html(title)}</h3><figure>{caption}{svg}</figure>{legend}<div>{frames}</div>"


def bars_html(title: str, items: Sequence[tuple[str, float]]) -> str:
    """A title and a bar for each value; empty where none is known."""
    known = [(name, value) for name, value in items if math.isfinite(value)]
    if not known:
        return ""
    largest = max(abs(value) for _, value in known) or 1.0
    rows = "".join(
        f"<tr><td>{text_html(name)}</td><td>"
        f'<svg viewBox="0 0 {BAR:.0f} 10" style="width:{BAR:.0f}px" aria-hidden="true">'
        f'<path class="line line-{0 if value >= 0 else 1}" style="stroke-width:8" '
        f'd="M0 5H{BAR * abs(value) / largest:.1f}"/></svg></td><td class="num">{number(value)}</td></tr>'
        for name, value in known
    )
    return f'<h3>{text_html(title)}</h3><div class="scroll"><table><tbody>{rows}</tbody></table></div>'


def _histogram(shares: tuple[float, ...]) -> str:
    width, height = HISTOGRAM
    top = max((share for share in shares if math.isfinite(share)), default=0.0) or 1.0
    step = width / max(len(shares), 1)
    path = "".join(
        f"M{step * (at + 0.5):.1f} {height:.0f}V{height - (height - 2) * float(np.nan_to_num(share)) / top:.1f}"
        for at, share in enumerate(shares)
    )
    bars = f'<path class="line" style="stroke-width:{step - 2:.1f}" d="{path}"/>'
    return f'<svg viewBox="0 0 {width:.0f} {height:.0f}" aria-hidden="true">{bars}</svg>'
