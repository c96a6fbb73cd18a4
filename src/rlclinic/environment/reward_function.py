"""Try a reward function on answers whose worth is known, in a child process: only what the user names is run.

Functions are called as verl (`compute_score(data_source, solution_str, ground_truth, extra_info)`), TRL (lists of
`completions` and of the data set's columns) or a plain `(response, answer)` have it, by the names of their parameters.
"""

from __future__ import annotations

import inspect
import math
import multiprocessing
import os
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from rlclinic.environment.make import load
from rlclinic.environment.reward_answers import EXAMPLES, EXPLOITS, Problem, gold_answers, tried_answers
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.reward_review import Payment, RewardRemark, RewardReview
from rlclinic.readers.redaction.redact import redacted_head
from rlclinic.store.children import settled, spawning

# Seconds for one call, and for the import before the first.
PATIENCE, STARTING = 10.0, 120.0
MOST_PROBLEMS = 20
# Share of the right answer's pay from which on an answer counts as paid.
PAID = 0.5
# Answers that have the form of one and nothing else.
OF_FORM = ("format only", "wrong")
RESPONSE = ("solution_str", "completion", "response", "solution", "output", "prediction", "text", "model_output")
GOLD = ("ground_truth", "answer", "gold", "target", "label", "reference", "expected", "solution", "correct_answer")
PROMPT = ("prompt", "question", "query", "input", "problem")


@dataclass(frozen=True, slots=True)
class Paid:
    """What one call returned."""

    value: float | None
    problem: str = ""


Call = Callable[[Problem, str], Paid]


def review_reward(function: str, problems: Sequence[Problem] = ()) -> RewardReview:
    """What `module:function` pays; UsageError where it cannot be found or called."""
    tried = list(problems or EXAMPLES)[:MOST_PROBLEMS]
    with _Child(function) as child:
        return _reviewed(function, tried, child.call)


def _reviewed(function: str, problems: Sequence[Problem], call: Call) -> RewardReview:
    golds = [{style: call(problem, text) for style, text in gold_answers(problem).items()} for problem in problems]
    styles = {style for paid in golds for style in paid}
    ranked = sorted(styles, key=lambda style: (-_mean([paid[style].value for paid in golds if style in paid]), style))
    style = ranked[0]
    level = _mean([paid[style].value for paid in golds if style in paid], none=math.nan)
    best = level if math.isfinite(level) else None
    payments = [
        _payment(
            "gold",
            [(gold_answers(p)[style], g[style]) for p, g in zip(problems, golds, strict=True) if style in g],
            best,
        )
    ]
    pairs: dict[str, list[tuple[str, Paid]]] = {}
    for problem in problems:
        if style not in gold_answers(problem):
            continue
        for kind, text in tried_answers(problem, style).items():
            pairs.setdefault(kind, []).append((text, call(problem, text)))
    payments += [_payment(kind, found, best) for kind, found in pairs.items()]
    again = [
        call(problem, gold_answers(problem)[style]).value for problem in problems if style in gold_answers(problem)
    ]
    steady = again == [paid[style].value for paid in golds if style in paid]
    remarks = _remarks(payments, best, steady=steady, own=problems[0] not in EXAMPLES)
    return RewardReview(function, len(problems), style, best, tuple(payments), tuple(remarks))


def _payment(kind: str, pairs: Sequence[tuple[str, Paid]], best: float | None) -> Payment:
    values = [paid.value for _, paid in pairs if paid.value is not None]
    bar = PAID * best if best is not None and best > 0 else math.inf
    paid = [text for text, found in pairs if found.value is not None and found.value >= bar]
    example = paid[0] if paid else pairs[0][0]
    problem = next((found.problem for _, found in pairs if found.problem), "")
    return Payment(kind, len(pairs), len(paid), _mean(values, none=math.nan) if values else None, example, problem)


def _remarks(payments: Sequence[Payment], best: float | None, *, steady: bool, own: bool) -> list[RewardRemark]:
    found = []
    if best is None or best <= 0:
        text = "no form of the right answer is paid: compare what the prompt asks for with what the verifier looks for"
        found.append(RewardRemark(Severity.ERROR, text))
    gold = payments[0]
    if best is not None and best > 0 and gold.paid < gold.tried:
        text = f"gold: {gold.tried - gold.paid} of {gold.tried} right answers are not paid"
        # Examples that come with rlclinic may be of another task: one of them asks for a word.
        advice = "" if own else "; if the examples are not of your task, name your own with --samples"
        found.append(RewardRemark(Severity.ERROR if own else Severity.WARNING, text + advice))
    # What the form alone gets; text without an answer that gets more is worth writing.
    form = max((payment.mean or 0.0 for payment in payments if payment.kind in OF_FORM), default=0.0)
    for payment in payments[1:]:
        if payment.problem:
            text = f"{payment.kind}: {payment.problem}; in training this ends the run, or pays by accident"
            found.append(RewardRemark(Severity.ERROR, text))
        if payment.paid:
            severity = Severity.WARNING if payment.kind in EXPLOITS else Severity.ERROR
            text = f"{payment.kind}: paid in {payment.paid} of {payment.tried} tries"
            found.append(RewardRemark(severity, text))
        elif best and payment.mean is not None and payment.mean > (0.0 if payment.kind in OF_FORM else form):
            severity = Severity.INFO if payment.kind in (*OF_FORM, "truncated") else Severity.WARNING
            text = f"{payment.kind}: {100 * payment.mean / best:.0f}% of what the right answer gets"
            found.append(RewardRemark(severity, text))
    if not steady:
        found.append(RewardRemark(Severity.WARNING, "the same answer does not get the same reward twice"))
    return sorted(found, key=lambda remark: -remark.severity.rank)


def _mean(values: Sequence[float | None], none: float = -math.inf) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else none


class _Child:
    """The process that imports and calls the function; a call that hangs or kills it is told, and it starts anew."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def call(self, problem: Problem, response: str) -> Paid:
        self._pipe.send((problem.prompt, problem.gold, response))
        answer = self._answer(PATIENCE)
        if answer is None:
            self._end()
            self._start()
            return Paid(None, f"no answer within {PATIENCE:.0f} s, or the process died")
        value, text = answer
        return Paid(value, text)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._function), daemon=True)
        with spawning():
            self._process.start()
        theirs.close()
        ready = self._answer(STARTING)
        if ready is None or ready[0] is None:
            self._end()
            raise UsageError(
                f"{self._function}: {ready[1] if ready else 'importing it hung or died'}",
                hint="name it as module:function",
            )

    def _answer(self, seconds: float) -> tuple[float | None, str] | None:
        try:
            return self._pipe.recv() if self._pipe.poll(seconds) else None
        except (EOFError, OSError):
            return None

    def _end(self) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.join(5)


def _serve(pipe: Connection, name: str) -> None:
    settled()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        call = _caller(load(name))
    except RlclinicError as error:
        pipe.send((None, error.message))
        return
    pipe.send((1.0, ""))
    while True:
        try:
            prompt, gold, response = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(_number(call(prompt, gold, response)))
        except Exception as error:
            pipe.send((None, f"raises {type(error).__name__}: {redacted_head(str(error), 200)}"))


def _caller(function: Any) -> Callable[[str, str, str], Any]:
    """How the function is called, by the names of its parameters."""
    names = inspect.signature(function).parameters
    required = [
        name
        for name, parameter in names.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    if "completions" in names:
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values())
        columns = {name for name in names if name in (*GOLD, *PROMPT)} | (set(GOLD[:2]) if takes_all else set())

        def many(prompt: str, gold: str, response: str) -> Any:
            given = {name: [gold] if name in GOLD else [prompt] for name in columns}
            prompts = {"prompts": [prompt]} if "prompts" in names or takes_all else {}
            return function(completions=[response], **prompts, **given)[0]

        return many

    def one(prompt: str, gold: str, response: str) -> Any:
        given: dict[str, Any] = {}
        for name in names:
            if name in RESPONSE and response is not None and not any(key in RESPONSE for key in given):
                given[name] = response
            elif name in GOLD:
                given[name] = gold
            elif name in PROMPT:
                given[name] = prompt
            elif name == "data_source":
                given[name] = "examined"
            elif name == "extra_info" and name in required:
                given[name] = {"question": prompt, "answer": gold}
        unnamed = [name for name in required if name not in given]
        if not any(key in RESPONSE for key in given) or unnamed:
            # Names tell nothing: the usual order is response, then the right answer.
            return function(*(response, gold, prompt)[: len(required)])
        return function(**given)

    return one


def _number(value: Any) -> tuple[float | None, str]:
    if isinstance(value, dict):
        value = next((value[key] for key in ("score", "reward", "total") if key in value), None)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None, f"returns {type(value).__name__}, not a number"
    return (number, "") if math.isfinite(number) else (None, f"returns {number}")
