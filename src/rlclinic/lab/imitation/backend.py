"""Behaviour cloning and DAgger as a backend of the lab: rounds of acting, labelling and fitting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rlclinic.lab.checkpoints import loading
from rlclinic.lab.environments import check_environment, make_environment
from rlclinic.lab.imitation.aggregate import Aggregate
from rlclinic.lab.imitation.expert import Expert, ExpertGoneError, is_file_of_steps, label_of
from rlclinic.lab.imitation.gates import GATES, Turn
from rlclinic.lab.imitation.measures import HOME, held_out, measured, visit
from rlclinic.lab.imitation.novice import Novice
from rlclinic.lab.imitation.options import DEFAULTS, ImitationOptions
from rlclinic.lab.offline.data import Dataset, load_dataset
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.lab.torchrl.spaces import Spaces, spaces_of
from rlclinic.lab.torchrl.state_files import load_arrays, save_arrays, seed_everything
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Status

# Steps of its own that the novice takes after each fit, to be measured and not learned from.
OWN_STEPS = 200
# Added to the seed of the recipe: the novice's own steps start where neither training nor evaluation does.
SEED_OFFSET = 2_000_000
MODEL, DATA = "model.pt", "data.npz"


class ImitationBackend:
    """The trainers of imitation."""

    def hyperparameters(self, algorithm: str) -> Mapping[str, object]:
        """Every canonical hyperparameter that the algorithm takes, with its default."""
        return DEFAULTS[algorithm]

    def check(self, recipe: Recipe) -> None:
        """UsageError where the recipe cannot be trained."""
        options, spaces = _prepared(recipe)
        expert = str(options.value("expert"))
        if is_file_of_steps(expert):
            if recipe.algorithm not in ("BC", "FILTERED-BC"):
                raise UsageError(
                    f"{recipe.algorithm} asks its expert, and {expert} cannot answer",
                    hint="a run, an SB3 zip or module:function as expert, or --algo bc",
                )
            demonstrations(expert, spaces, options.number("best_share"))
        else:
            label_of(recipe, expert, spaces)

    def train(self, recipe: Recipe, session: Session) -> None:
        """Train until the budget is used or the session asks to stop."""
        options, spaces = _prepared(recipe)
        torch.set_num_threads(1)
        seed_everything(recipe.seed)
        _Training(recipe, options, spaces, session).run()


class _Training:
    def __init__(self, recipe: Recipe, options: ImitationOptions, spaces: Spaces, session: Session) -> None:
        self.recipe, self.options, self.spaces, self.session = recipe, options, spaces, session
        self.random = np.random.default_rng(recipe.seed)
        self.novice = Novice(spaces, options)
        self.data = Aggregate()
        self.gate = GATES[recipe.algorithm](self.novice, self.random)
        self.rounds = -(-recipe.total_steps // options.whole("n_steps"))
        self.round = self.steps = self.episode = self.by_expert = 0
        self.columns: dict[str, float] = {}
        name = str(options.value("expert"))
        self.file = name if is_file_of_steps(name) else ""
        label = (lambda _: None) if self.file else label_of(recipe, name, spaces)
        self.expert = Expert(label, spaces, options, self.random)
        self.best, self.best_round = -np.inf, 0
        if session.resumed is not None:
            with loading(session.resumed.path):
                self._load(session.resumed.path)

    def run(self) -> None:
        """Rounds until the budget is used, or the file holds no more."""
        environment = None if self.file else make_environment(self.recipe)
        own, total = make_environment(self.recipe), self.recipe.total_steps
        if self.file:
            self.known = self._drawn()
            total = min(total, len(self.known.rewards))
        try:
            while self.steps < total and not self.session.should_stop():
                if environment is None:
                    self._read(min(self.steps + self.options.whole("n_steps"), total))
                else:
                    self._collect(environment)
                if self.round % self.options.whole("retrain_every") == 0 or self.round == 0:
                    self._fit()
                self._end_round(own)
        finally:
            if environment is not None:
                environment.close()
            own.close()
        self.session.finish(self.steps, lambda: self.columns, self.novice.act, self._save)

    def _drawn(self) -> Dataset:
        """The steps of the file, its episodes in an order that is drawn."""
        data = demonstrations(self.file, self.spaces, self.options.number("best_share"))
        place = np.random.default_rng(self.recipe.seed).permutation(int(data.episodes.max()) + 1)
        return data.at(np.argsort(place[data.episodes], kind="stable"))

    def _read(self, end: int) -> None:
        """One round of a file: so many of its steps more."""
        self.by_expert = end - self.steps
        for row in range(self.steps, end):
            self.data.add(
                self.known.observations[row], self.known.actions[row], self.round, int(self.known.episodes[row])
            )
        self.steps, self.gate.beta, self.expert.queries = end, 1.0, end

    def _collect(self, environment: Any) -> None:
        """One round at the controls, by the rules of the variant's gate."""
        self.gate.beta = self.options.beta(self.round, self.rounds)
        if not self.options.flag("aggregate"):
            self.data = Aggregate()
        observation, _ = environment.reset(seed=self.recipe.seed + self.round)
        self.gate.begin_episode()
        end = min(self.steps + self.options.whole("n_steps"), self.recipe.total_steps)
        self.by_expert = 0
        while self.steps < end and not self.session.should_stop():
            state = self.spaces.encode([observation])[0]
            turn = self._turn(state, observation)
            self.by_expert += turn.by_expert
            if turn.label is not None:
                self.data.add(state, turn.label, self.round, self.episode)
            action = self.novice.to_environment(np.asarray(turn.action)[None])[0]
            observation, _, terminated, truncated, _ = environment.step(action)
            self.steps += 1
            self.session.step(self.steps)
            if terminated or truncated:
                observation, _ = environment.reset()
                self.episode += 1
                self.gate.begin_episode()
        self.episode += 1

    def _turn(self, state: Any, observation: Any) -> Turn:
        """One step; where the expert does not answer the novice goes on alone."""
        used = self.steps / self.recipe.total_steps
        try:
            return self.gate.turn(
                state, lambda: self.expert.ask(observation, used), lambda: self.expert.answer(observation)
            )
        except ExpertGoneError as error:
            if not len(self.data):
                raise UsageError(f"no label was given: {error}", hint="raise query_budget or expert_outage") from error
            if f"{HOME}/expert_gone" not in self.columns:
                self.columns[f"{HOME}/expert_gone"] = float(self.steps)
                self.session.folder.log(f"step {self.steps:,}: the expert gives no more labels: {error}")
            return Turn(self.novice.predict(state[None])[0], by_expert=False, label=None)

    def _fit(self) -> None:
        """Fit to what is labelled, from fresh weights unless asked otherwise."""
        if not self.options.flag("warm_start"):
            self.novice.begin()
        rows = self.data.arrays()
        chosen = ~held_out(rows)
        self.novice.fit(rows["states"][chosen], rows["labels"][chosen], self.random)
        self.gate.fitted(rows["states"], rows["labels"])

    def _end_round(self, own: Any) -> None:
        steps = min(OWN_STEPS, self.options.whole("n_steps"))
        answer = None if self.file or self.expert.gone else self.expert.answer
        visited = visit(self.novice, own, answer, steps, self.recipe.seed + SEED_OFFSET + self.round)
        taken = max(min(self.options.whole("n_steps"), self.steps), 1)
        gone = {name: value for name, value in self.columns.items() if name.endswith("expert_gone")}
        self.columns = {
            **measured(self.novice, self.data, self.round, visited),
            f"{HOME}/beta": self.gate.beta,
            f"{HOME}/expert_control": self.by_expert / taken,
            f"{HOME}/queries": float(self.expert.queries),
            f"{HOME}/updates": float(self.novice.updates),
            **self._constants(),
            **gone,
        }
        self.round += 1
        self.session.after_update(self.steps, lambda: self.columns, self.novice.act, self._save)
        self._stop_early()

    def _constants(self) -> dict[str, float]:
        level = self.options.optional("expert_return")
        rate = {"train/hp/policy_lr": self.options.number("learning_rate")}
        return rate if level is None else {**rate, f"{HOME}/expert_return": level}

    def _stop_early(self) -> None:
        """End where further rounds bring nothing, or nobody is left to learn from."""
        found, patience = self.session.last_evaluation, self.options.whole("patience")
        if found is not None and found.mean > self.best:
            self.best, self.best_round = found.mean, self.round
        if patience and self.round - self.best_round >= patience:
            self.session.request_stop(Status.FINISHED, f"no better evaluation in {patience} rounds")
        elif self.expert.gone and not self.options.flag("warm_start"):
            # Fitting the same labels again from fresh weights only draws another seed.
            self.session.request_stop(Status.FINISHED, f"the expert gives no more labels: {self.expert.gone}")

    def _save(self, path: Path) -> None:
        torch.save(
            {"members": self.novice.members.state_dict(), "optimiser": self.novice.optimiser.state_dict()}, path / MODEL
        )
        counters = np.asarray(
            [self.round, self.steps, self.episode, self.expert.queries, self.best_round, self.novice.updates]
        )
        scale = {"mean": self.novice.mean, "spread": self.novice.spread, "best": np.asarray(self.best)}
        save_arrays(path / DATA, {**self.data.arrays(), **scale, "counters": counters})

    def _load(self, path: Path) -> None:
        arrays = load_arrays(path / DATA)
        weights = torch.load(path / MODEL, weights_only=True)
        self.novice.members.load_state_dict(weights["members"])
        self.novice.optimiser.load_state_dict(weights["optimiser"])
        self.novice.mean, self.novice.spread = arrays["mean"], arrays["spread"]
        self.best = float(arrays["best"])
        counters = arrays["counters"].tolist()
        self.round, self.steps, self.episode, self.expert.queries, self.best_round, self.novice.updates = counters
        self.data = Aggregate(arrays)
        self.random = np.random.default_rng([self.recipe.seed, self.round])
        self.gate.random = self.expert.random = self.random
        self.gate.fitted(arrays["states"], arrays["labels"])


def demonstrations(path: str, spaces: Spaces, best: float) -> Dataset:
    """The steps of a file, of its best episodes alone where a share of them is asked for."""
    data = load_dataset(Path(path), spaces)
    return data if best >= 1.0 else data.only(data.best(best))


def _prepared(recipe: Recipe) -> tuple[ImitationOptions, Spaces]:
    if recipe.algorithm not in DEFAULTS:
        raise UsageError(f"no imitation is called {recipe.algorithm}", hint=f"one of {', '.join(DEFAULTS)}")
    options = ImitationOptions(recipe)
    spaces = spaces_of(*check_environment(recipe))
    if not spaces.is_discrete and not spaces.is_bounded:
        raise UsageError("actions without bounds have no scale", hint="add the wrapper RescaleAction")
    return options, spaces


BACKEND = ImitationBackend()
