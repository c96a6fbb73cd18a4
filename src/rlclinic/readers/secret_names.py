"""Secrets that show themselves by the name before them: `password: …`, `--api-key …`, `"hf_token": "…"`.

A name alone proves little (`eos_token`, `max_tokens`, `reward_fn_key`), so a name has a family, and each family
asks more or less of the value: a password may be any word, a token has to look random.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from rlclinic.readers.secret_shapes import Span, is_masked


class Family(Enum):
    """How much a value must look like a secret before it is taken for one."""

    PASSWORD = "any value that is not obviously a placeholder"
    SECRET = "a value with digits or mixed case"
    TOKEN = "a value that looks random"
    HEADER = "an authorization header"
    COOKIE = "name=value pairs"


class NameMatch(NamedTuple):
    """A secret-sounding name in a text: its span with everything that belongs to it, and its family."""

    start: int
    end: int
    family: Family


# Characters looked at on either side of the trigger word to find the whole name.
_NAME_REACH = 48

_WORDS: dict[str, Family] = {
    "password": Family.PASSWORD,
    "passwd": Family.PASSWORD,
    "passwort": Family.PASSWORD,
    "passphrase": Family.PASSWORD,
    "passcode": Family.PASSWORD,
    "pwd": Family.PASSWORD,
    "_pass": Family.PASSWORD,
    "secret": Family.SECRET,
    "credential": Family.SECRET,
    "credentials": Family.SECRET,
    "key": Family.SECRET,
    "token": Family.TOKEN,
    "authorization": Family.HEADER,
    "cookie": Family.COOKIE,
}

_ISSUERS = frozenset(
    [
        "anthropic",
        "aws",
        "azure",
        "cohere",
        "comet",
        "clearml",
        "databricks",
        "dashscope",
        "deepseek",
        "gcp",
        "gemini",
        "github",
        "gitlab",
        "google",
        "groq",
        "hf",
        "huggingface",
        "hub",
        "kaggle",
        "mistral",
        "modelscope",
        "neptune",
        "npm",
        "nvidia",
        "openai",
        "openrouter",
        "pypi",
        "replicate",
        "sendgrid",
        "serpapi",
        "serper",
        "slack",
        "stripe",
        "swanlab",
        "tavily",
        "telegram",
        "together",
        "twilio",
        "wandb",
    ]
)
# `reward_fn_key`, `sort_key` and `prompt_key` are column names; only these make a key a secret.
_KEY_QUALIFIERS = _ISSUERS | frozenset(
    [
        "access",
        "account",
        "api",
        "app",
        "application",
        "auth",
        "client",
        "consumer",
        "deploy",
        "encryption",
        "license",
        "master",
        "private",
        "secret",
        "service",
        "shared",
        "signing",
        "ssh",
        "storage",
        "subscription",
    ]
)
_TOKEN_QUALIFIERS = _ISSUERS | frozenset(
    [
        "access",
        "api",
        "auth",
        "bearer",
        "bot",
        "csrf",
        "id",
        "identity",
        "oauth",
        "personal",
        "refresh",
        "secret",
        "security",
        "service",
        "session",
        "user",
    ]
)
# Words of tokenizers and counters: `pad_token`, `per_token`, `max_token`.
_TEXT_TOKENS = frozenset(
    [
        "additional",
        "audio",
        "begin",
        "bos",
        "boi",
        "cls",
        "decoder",
        "end",
        "eoi",
        "eos",
        "eot",
        "first",
        "forced",
        "image",
        "img",
        "last",
        "mask",
        "max",
        "min",
        "n",
        "new",
        "next",
        "no",
        "num",
        "pad",
        "per",
        "prefix",
        "prompt",
        "sep",
        "size",
        "sot",
        "special",
        "start",
        "stop",
        "suffix",
        "think",
        "tool",
        "unk",
        "video",
        "vision",
    ]
)
_PASS_QUALIFIERS = frozenset(
    [
        "admin",
        "db",
        "email",
        "ftp",
        "mail",
        "mongo",
        "mysql",
        "pg",
        "postgres",
        "redis",
        "root",
        "smtp",
        "ssh",
        "user",
    ]
)
# What may follow the word and still name the secret itself (`token_2`, `api_key_prod`), not something about it.
_SUFFIX = re.compile(
    r"(?:[_\-]?(?:base64|base|b64|default|dev|live|new|old|plain|prod|string|str|test|text|value|v?\d{1,3}))?"
    r"(?![A-Za-z0-9_\-])",
    re.IGNORECASE,
)
_ID_SUFFIX = re.compile(r"[_\-]?id(?![A-Za-z0-9_\-])", re.IGNORECASE)

_HARMLESS_WORDS = frozenset(
    [
        "any",
        "auto",
        "bool",
        "bytes",
        "changeme",
        "default",
        "disabled",
        "dummy",
        "empty",
        "enabled",
        "false",
        "hidden",
        "int",
        "invalid",
        "missing",
        "na",
        "nil",
        "no",
        "none",
        "null",
        "off",
        "on",
        "optional",
        "placeholder",
        "protected",
        "redacted",
        "required",
        "secret",
        "set",
        "str",
        "string",
        "token",
        "true",
        "undefined",
        "unset",
        "yes",
    ]
)
_NUMBER = re.compile(r"[-+]?[\d_]*\.?\d+(?:[eE][-+]?\d+)?\Z")
_TEMPLATE = re.compile(r"\$\{|\$\(|\$[A-Z_]|%\(|%s|\{+[\w .:]*\}+|<[^>]*>?\Z|\[[\w .]*\]?\Z|\{|\\u003c")
_CODE = re.compile(
    r"(?:args|cfg|conf|config|env|hparams|kwargs|opt|options|os|params|self|settings|user)\.\w|[\w.]*[(\[]"
)
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_PATH = re.compile(
    r"(?:~|\.{1,2})?/[\w.\-]*[a-z._\-][\w.\-]*(?:/|\Z)|[A-Za-z]:\\|\\\\|\w+://|[\w./\-]+\.[a-z]{2,5}\Z"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[^A-Za-z0-9]+")
_NAME_RUN = re.compile(r"[\w.\-/]*")
_DIGIT = re.compile(r"[0-9]")
_MIXED = re.compile(r"[a-z].*?[A-Z]|[A-Z].*?[a-z].*?[A-Z]", re.DOTALL)
_CHANGE = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")

# A bounded run of separators and the values behind them.
_ASSIGN = re.compile(r"\\{0,3}[\"'`]?\]?[ \t]{0,8}(?::=|=>|={1,2}|:)[ \t]{0,40}")
_NEXT_LINE = re.compile(
    r"\r?\n[ \t]{0,80}(?:desc:[^\n]{0,80}\n[ \t]{0,80})?(?:value:[ \t]{0,8}|(?=\\{0,3}[\"']))"
)
_PAIR = re.compile(r"\\{0,3}[\"']\s{0,8},\s{0,80}(?=\\{0,3}[\"'])")
_BRACKET_PAIR = re.compile(r",[ \t]{1,8}")
_TABLE_CELL = re.compile(r"[ \t]{0,40}\|[ \t]{0,40}")
_ELEMENT = re.compile(r">")
_SPACE = re.compile(r"[\"']?[ \t]{1,8}(?:is[ \t]{1,4})?(?=[^\s\-])")
_QUOTE = re.compile(r"[bBrRuU]?(?P<quote>\\{0,3}[\"'])")
_IN_DOUBLE = re.compile(r"(?:[^\"\\\n]|\\.){0,4096}")
_IN_SINGLE = re.compile(r"(?:[^'\\\n]|\\.){0,4096}")
_IN_ESCAPED = re.compile(r"[^\"'\\\n]{0,4096}")
_BARE = re.compile(r"[^\s\"'`,;)}\]&<|]{1,512}")
_BARE_PASSWORD = re.compile(
    r"(?:[^\s\"'`,;)}\]&<|]|[,;)}\]&<|](?![\s\"'`,;)}\]&<|]|/?[\w.\-]{1,32}[=:>]|\Z)){1,512}"
)
_REST_OF_LINE = re.compile(r"[^\n]{1,256}?(?=[ \t]+#|[ \t]*\r?(?:\n|\Z))")
_MAIL_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?![A-Za-z])")
_HEADER_VALUE = re.compile(r"(?:[A-Za-z0-9\-]{2,20} {1,4})?(?P<value>[^\s\"'\\,;]{6,512})")
_COOKIE_VALUE = re.compile(r"[^\n\"']{1,4096}")
_LINE_START = re.compile(r"[ \t\-]*\Z")


# Names are written in lower, Capital and UPPER case; no one writes pAsSwOrD.
NAME_TRIGGERS: tuple[str, ...] = tuple({form for w in _WORDS for form in (w, w.capitalize(), w.upper())})
_NAME = re.compile("|".join(sorted(NAME_TRIGGERS, key=len, reverse=True)))


def find_named(text: str, start: int, word: str) -> Span | None:
    """The secret value behind the name whose trigger `word` stands at `start`, if there is one."""
    name = _name_at(text, start, word)
    if name is None:
        return None
    if name.family is Family.HEADER:
        return _header(text, name)
    if name.family is Family.COOKIE:
        return _cookie(text, name)
    return _assigned(text, name)


def is_secret(name: str, value: str) -> bool:
    """Whether `value`, kept under `name` in a config, is a secret."""
    family = family_of(name)
    if family is Family.HEADER:
        return len(value) >= 6 and not is_harmless(value) and any(c.isdigit() for c in value)
    if family is Family.COOKIE:
        return "=" in value
    return family is not None and _convinces(family, value, quoted=True)


def family_of(name: str) -> Family | None:
    """The family of a whole name such as `SMTP_PASSWORD`, `wandb.api_key` or `eos_token` (None)."""
    last = None
    for found in _NAME.finditer(name, max(0, len(name) - 2 * _NAME_REACH)):
        last = None if _goes_on(found.group(), name[found.end() : found.end() + 1]) else found
    if last is None:
        return None
    left, word = name[: last.start()], last.group().lower()
    end = _suffix_end(name, last.end(), word, left)
    return _classify(left, word) if end == len(name) else None


def _name_at(text: str, start: int, word: str) -> NameMatch | None:
    end = start + len(word)
    if _goes_on(word, text[end : end + 1]):
        return None
    left, run = _left_part(text, start)
    suffix_end = _suffix_end(text, end, word.lower(), left)
    family = None if suffix_end is None else _classify(left, word.lower())
    if family is None or suffix_end is None:
        return None
    return NameMatch(start - run, suffix_end, family)


def _left_part(text: str, start: int) -> tuple[str, int]:
    """What stands before the trigger word in its name, and how many characters of the text that is."""
    before = text[max(0, start - _NAME_REACH) : start]
    run = _run_end(_NAME_RUN, before[::-1], 0, len(before))
    if run:
        return before[len(before) - run :], run
    # "API key: …" in prose
    return (before[:-1].rpartition(" ")[2] if before.endswith(" ") else ""), 0


def _suffix_end(text: str, end: int, word: str, left: str) -> int | None:
    found = _SUFFIX.match(text, end)
    if found is None and word == "key" and left[-7:].lower().strip("_-.") == "access":
        found = _ID_SUFFIX.match(text, end)
    return None if found is None else found.end()


def _goes_on(word: str, following: str) -> bool:
    """`tokens`, `keyboard` and `TOKENIZER` are other words."""
    return following.isupper() if word.isupper() else following.islower()


def _run_end(pattern: re.Pattern[str], text: str, start: int, stop: int) -> int:
    found = pattern.match(text, start, stop)
    return start if found is None else found.end()


def _classify(left: str, word: str) -> Family | None:
    before = [w for w in _SPLIT.split(_CAMEL.sub("_", left).lower()) if w]
    qualifier = before[-1] if before else ""
    if word == "key":
        return Family.SECRET if _qualified(qualifier, _KEY_QUALIFIERS) else None
    if word == "_pass":
        return Family.PASSWORD if qualifier in _PASS_QUALIFIERS else None
    if word == "token" and (qualifier in _TEXT_TOKENS or left.endswith("/")):
        return None
    if word == "token" and _qualified(qualifier, _TOKEN_QUALIFIERS):
        return Family.SECRET
    return _WORDS[word]


def _qualified(word: str, qualifiers: frozenset[str]) -> bool:
    return word in qualifiers or word in {"x" + q for q in ("api", "auth")} or word.endswith("api")


def _assigned(text: str, name: NameMatch) -> Span | None:
    at = _value_start(text, name)
    if at is None:
        return None
    quote = _QUOTE.match(text, at)
    if quote is not None:
        inside = {'"': _IN_DOUBLE, "'": _IN_SINGLE}.get(quote.group("quote"), _IN_ESCAPED)
        return _judged(
            text, Span(quote.end(), _run_end(inside, text, quote.end(), len(text))), name, quoted=True
        )
    if name.family is not Family.PASSWORD:
        return _judged(text, Span(at, _run_end(_BARE, text, at, len(text))), name, quoted=False)
    return _judged(text, Span(at, _password_end(text, name, at)), name, quoted=False)


def _value_start(text: str, name: NameMatch) -> int | None:
    """Where the value begins; None when nothing assigns one to the name."""
    assign = _ASSIGN.match(text, name.end)
    if assign is not None:
        below = _NEXT_LINE.match(text, assign.end())
        return assign.end() if below is None else below.end()
    previous = text[name.start - 1] if name.start else ""
    flag = text.startswith("--", name.start)
    for pattern, wanted in (
        (_PAIR, previous in {"'", '"'}),
        (_BRACKET_PAIR, previous == "["),
        (_TABLE_CELL, previous == "|" or text[max(0, name.start - 2) : name.start] == "| "),
        (_ELEMENT, previous == "<"),
        (_SPACE, flag or name.family is Family.PASSWORD or text.startswith(" is ", name.end)),
    ):
        found = pattern.match(text, name.end) if wanted else None
        if found is not None:
            return _spaced(text, name, found.end()) if pattern is _SPACE and not flag else found.end()
    return None


def _spaced(text: str, name: NameMatch, at: int) -> int | None:
    """Prose writes `password required`; a netrc file writes `password 9f3a…`. Only the second has digits."""
    value = _BARE.match(text, at)
    return at if value is not None and _convinces(Family.TOKEN, value.group(), quoted=False) else None


def _password_end(text: str, name: NameMatch, at: int) -> int:
    mail = _MAIL_PASSWORD.match(text, at)
    if mail is not None:
        return mail.end()
    line_start = text.rfind("\n", max(0, name.start - _NAME_REACH), name.start) + 1
    own_line = _LINE_START.match(text, line_start, name.start) is not None
    if own_line and ":" in text[name.end : at]:
        return _run_end(_REST_OF_LINE, text, at, len(text))
    return _run_end(_BARE_PASSWORD, text, at, len(text))


def _judged(text: str, span: Span, name: NameMatch, *, quoted: bool) -> Span | None:
    value = text[span.start : span.end]
    if name.family is Family.PASSWORD and text[: name.end][-3:].lower() == "pwd" and _PATH.match(value):
        return None
    if not quoted and value.lower() == text[name.start : name.end].lstrip("-").rpartition(".")[2].lower():
        return None
    return span if _convinces(name.family, value, quoted=quoted) else None


def _convinces(family: Family, value: str, *, quoted: bool) -> bool:
    if is_harmless(value) or (not quoted and _CODE.match(value)):
        return False
    if family is Family.PASSWORD:
        return len(value) >= 3 and not (_NUMBER.match(value) and "." in value)
    if len(value) < 6 or _NUMBER.match(value) or _CONSTANT_NAME.match(value) or " " in value:
        return False
    if family is Family.SECRET:
        return _strong(value) and (not _PATH.match(value) or _random(value))
    return not _PATH.match(value) and _random(value)


def is_harmless(value: str) -> bool:
    """Empty, masked, a placeholder or a reference to a secret kept elsewhere."""
    bare = value.strip(" \t\r,;")
    if is_masked(bare) or bare.lower() in _HARMLESS_WORDS:
        return True
    return _TEMPLATE.match(bare) is not None or bare.lower().startswith(
        ("your_", "your-", "os.environ", "process.env")
    )


def _strong(value: str) -> bool:
    head = value[:64]
    if _DIGIT.search(head):
        return True
    return len(head) >= 16 if _MIXED.match(head) else len(head) >= 24 and head.isalnum()


def _random(value: str) -> bool:
    """Random text changes between letters, capitals and digits all the time; words and versions rarely do."""
    head = value[:64]
    changes = len(_CHANGE.findall(head))
    if len(head) < 10 or changes < 3 or changes < 0.15 * len(head):
        return False
    return len(head) >= 24 or _DIGIT.search(head) is not None


def _header(text: str, name: NameMatch) -> Span | None:
    assign = _ASSIGN.match(text, name.end)
    if assign is None:
        return None
    quote = _QUOTE.match(text, assign.end())
    found = _HEADER_VALUE.match(text, assign.end() if quote is None else quote.end())
    if found is None or is_harmless(found["value"]) or not _strong(found["value"]):
        return None
    return Span(*found.span("value"))


def _cookie(text: str, name: NameMatch) -> Span | None:
    assign = _ASSIGN.match(text, name.end)
    if assign is None:
        return None
    quote = _QUOTE.match(text, assign.end())
    found = _COOKIE_VALUE.match(text, assign.end() if quote is None else quote.end())
    if found is None or "=" not in found.group() or is_harmless(found.group()):
        return None
    return Span(*found.span())
