"""Generated config files with one marked number, so that the rest can be compared byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

MARK = "\x00"
KEYS = ("learning_rate", "gamma", "n_steps", "batch_size", "clip_range", "ent_coef", "tau", "note", "layers", "flag")
NUMBERS = st.floats(1e-7, 1e6, allow_subnormal=False) | st.integers(0, 10**7)
WORDS = st.sampled_from(
    ["adam", "MlpPolicy", "a b", "x: y", "# no comment", "it's", 'say "hi"', "lin_0.2", "1e-3", "", "ü"]
)
VALUES = NUMBERS | WORDS | st.booleans() | st.none() | st.lists(st.integers(1, 512), min_size=1, max_size=3)
COMMENTS = st.sampled_from(["", "", "  # why", " # learning_rate: 7", "   # ü"])


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with a mark where the number stands."""

    template: str
    path: tuple[str, ...]
    value: float
    spelled: str

    @property
    def text(self) -> str:
        """The file as the user has it."""
        return self.template.replace(MARK, self.spelled)

    def surrounds(self, edited: str) -> bool:
        """Whether everything outside the number is what it was."""
        head, tail = self.template.split(MARK)
        return edited.startswith(head) and edited.endswith(tail) and len(edited) > len(head) + len(tail)


def _yaml_number(value: float) -> st.SearchStrategy[str]:
    """Spellings that users have; PyYAML reads the second as text."""
    plain = repr(value)
    tagged = f"!!float {value!r}" if isinstance(value, float) else plain
    return st.sampled_from([plain, plain, tagged])


@st.composite
def yaml_samples(draw: st.DrawFn, section: str = "") -> Sample:
    """Block or flow style, comments, tags, anchors, either line ending; a section beside others where it is named."""
    value = draw(NUMBERS)
    spelled = draw(_yaml_number(value))
    tag, _, number = spelled.rpartition(" ")
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=6, unique=True))
    target = draw(st.sampled_from(keys))
    indent = " " * draw(st.sampled_from([2, 4]))
    lines = [draw(st.sampled_from(["# head", "", "---"]))]
    sections = (section,) if section else ()
    if section:
        lines += [
            "_defaults: &defaults",
            f"{indent}tau: 0.005",
            f"{indent}gamma: 0.5  # shared",
            "other:",
            f"{indent}<<: *defaults",
        ]
        lines += [f"{indent}{key}: 3" for key in draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True))]
        lines += ["", f"{section}:", f"{indent}<<: *defaults"]
    pad = indent if sections else ""
    flow = draw(st.booleans()) and not sections
    body = []
    for key in keys:
        if key == target:
            body.append((key, f"{tag} {MARK}" if tag else MARK))
        else:
            body.append((key, _yaml_value(draw(VALUES))))
    if flow:
        lines.append("{" + ", ".join(f"{key}: {text}" for key, text in body) + "}")
    else:
        for key, text in body:
            lines.append(f"{pad}{key}: {text}{draw(COMMENTS)}")
            lines += draw(st.sampled_from([[], [""], [f"{pad}# between"]]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    template = end.join(lines) + draw(st.sampled_from(["", end]))
    return Sample(template, (*sections, target), value, number)


def _yaml_value(value: object) -> str:
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


@st.composite
def json_samples(draw: st.DrawFn) -> Sample:
    """Any indent, one level or two."""
    value = draw(NUMBERS)
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=6, unique=True))
    target = draw(st.sampled_from(keys))
    marker = "the value that is marked"
    inner = {key: marker if key == target else draw(VALUES) for key in keys}
    nested = draw(st.booleans())
    data = {"algo": inner, "seed": 7, "text": 'a "{" in text'} if nested else inner
    text = json.dumps(data, indent=draw(st.sampled_from([None, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    path = ("algo", target) if nested else (target,)
    return Sample(text.replace(json.dumps(marker), MARK), path, value, json.dumps(value))


@st.composite
def toml_samples(draw: st.DrawFn) -> Sample:
    """Tables, comments, dotted names."""
    value = draw(NUMBERS)
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=6, unique=True))
    target = draw(st.sampled_from(keys))
    lines = ["# head", 'title = "x = 1"', "[other]", f"{target} = 3"]
    table = draw(st.sampled_from(["algo", "agent.algo"]))
    lines += ["", f"[{table}]  # here"]
    for key in keys:
        other = draw(VALUES)
        text = MARK if key == target else _yaml_value("" if other is None else other)
        lines.append(f"{key} = {text}{draw(COMMENTS)}")
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return Sample(end.join(lines) + draw(st.sampled_from(["", end])), (*table.split("."), target), value, repr(value))


@st.composite
def python_samples(draw: st.DrawFn) -> Sample:
    """A dataclass, a call, a dict or argparse; comments and text that looks like the target."""
    value = draw(NUMBERS)
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=6, unique=True))
    target = draw(st.sampled_from(keys))
    texts = {key: MARK if key == target else repr(draw(VALUES)) for key in keys}
    lines = [f'"""Sets {target} = 1."""', "import x  # ü"]
    kind = draw(st.sampled_from(["dataclass", "call", "dict", "argparse"]))
    if kind == "dataclass":
        lines += ["@dataclass", "class Args:"]
        lines += [f"    {key}: object = {text}{draw(COMMENTS)}" for key, text in texts.items()]
    elif kind == "call":
        joint = draw(st.sampled_from([", ", ",\n    "]))
        inside = joint.join(f"{key}={text}" for key, text in texts.items())
        lines.append(f'é = "ü"; model = PPO("MlpPolicy", env, {inside})  # {target}=3')
    elif kind == "dict":
        lines.append("config = {" + ", ".join(f'"{key}": {text}' for key, text in texts.items()) + "}")
    else:
        lines += [
            f'parser.add_argument("--{key.replace("_", "-")}", default={text}, help="{target}")'
            for key, text in texts.items()
        ]
    lines += [f"print(args.{target})"]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    template = "\n".join(lines).replace("\n", end) + end
    return Sample(template, (target,), value, repr(value))
