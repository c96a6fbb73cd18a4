"""The policy is a plain network for images, or sees single frames of a moving scene.

What it sees: The observation has the shape of an image and the policy class is an MLP; or an Atari game is played from
one frame at a time without a recurrent network.
Why it hurts: A flattened image gives an MLP no notion of neighbourhood and tens of thousands of weights per unit; one
frame does not show which way anything moves.
Evidence needed: observation_shape and policy_class, or frame_stack for Atari.
Looks alike: RAM observations, features from an encoder, frame stacks that a wrapper adds without saying so in the
config.
What to change: Use a convolutional policy (CnnPolicy) and stack four frames.
References: Mnih et al. 2015 (Nature 518); Stable-Baselines3 documentation, custom policies; gymnasium
AtariPreprocessing.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.reference.tasks import task_of
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("CFG05", needs=("config:observation_shape|config:frame_stack|config:policy_class",))


class Limits(RuleLimits):
    image_side: int = 24
    """Pixels per side from which on a three-dimensional observation is an image rather than a small grid."""
    usual_stack: float = 4.0


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the observation against the policy."""
    curve = facts.curve
    learns = curve is not None and (curve.improved or curve.still_rising)
    severity = Severity.INFO if learns else Severity.WARNING
    shape, policy = _image(facts.run.config.get("observation_shape"), limits), facts.run.config.get("policy_class")
    if shape is not None and isinstance(policy, str) and policy.lower().startswith("mlp"):
        inputs = shape[0] * shape[1] * shape[2]
        summary = f"observations of shape {shape} are images ({inputs} numbers), the policy is {policy}"
        evidence = (setting_evidence(facts, "observation_shape", float(inputs), note="numbers per observation"),)
        return RuleResult(severity, 0.8, summary, evidence)
    return _single_frames(facts, severity, limits)


def _single_frames(facts: RunFacts, severity: Severity, limits: Limits) -> RuleResult | None:
    environment, stack = facts.run.environment, facts.setting("frame_stack")
    task = task_of(environment)
    is_atari = "NoFrameskip" in environment or environment.startswith("ALE/") or (task and task.group == "atari")
    if not is_atari or "-ram" in environment or stack is None or stack > 1 or facts.run.config.get("recurrent"):
        return None
    summary = f"{environment} is played from single frames (frame stack {stack:.0f}, usual {limits.usual_stack:.0f})"
    evidence = (setting_evidence(facts, "frame_stack", stack, limits.usual_stack, note="frames per observation"),)
    return RuleResult(severity, 0.6, summary, evidence)


def _image(shape: object, limits: Limits) -> tuple[int, int, int] | None:
    if not isinstance(shape, list | tuple) or len(shape) != 3:
        return None
    sides = [side for side in shape if isinstance(side, int) and not isinstance(side, bool)]
    if len(sides) != 3 or sorted(sides)[1] < limits.image_side:
        return None
    return sides[0], sides[1], sides[2]
