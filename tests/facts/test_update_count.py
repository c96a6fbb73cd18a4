"""How many updates a run makes says how fast it learns, not when it begins to."""

from __future__ import annotations

from rlclinic.engine import diagnose
from rlclinic.model.run import Status
from tests.rules.scene import flat, scene


def test_updates_that_are_missing_because_learning_begins_late_are_not_too_few() -> None:
    """constructed: all that is off is learning_starts, and the change is not one of the pace."""
    config = {"learning_starts": 7000, "train_freq": 4, "gradient_steps": 1, "learning_rate": 1e-4, "batch_size": 32}
    facts = scene(
        algorithm="DQN", environment="CartPole-v1", series={"return/train": flat(22.0)}, config=config, steps=5930.0,
        status=Status.RUNNING,
    )  # fmt: skip
    found = diagnose(facts.run)
    causes = {cause.id: cause.probability for cause in found.causes}
    assert causes["learning-starts-too-late"] > 5.0 * causes.get("too-few-updates", 0.0)
    changed = [change.key for item in found.prescriptions for change in item.changes]
    assert changed[:1] == ["learning_starts"]
