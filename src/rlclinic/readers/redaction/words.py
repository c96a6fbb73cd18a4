"""Which names announce a secret, and how much its value must then look like one."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple


class Family(Enum):
    """What a value must be, behind a name of this family, to be taken for a secret."""

    PASSWORD = "anything that is not obviously a placeholder"
    SECRET = "something with digits or mixed case"
    TOKEN = "something that looks random"
    HEADER = "an authorization header"
    COOKIE = "name=value pairs, or something that looks random"
    LOGIN = "user:password, plain or in base64, or something that looks random"
    LOOSE = "something with digits that is no quantity"
    HOOK = "an address with a path"
    HEX = "40 hexadecimal digits, as W&B's keys have, or what MIXED is"
    MIXED = "letters of both cases and digits, long and all at random"


class Name(NamedTuple):
    """A secret-sounding name at text[start:end], with everything that belongs to it."""

    start: int
    end: int
    family: Family
    is_plural: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Characters looked at before the trigger word to find the whole name.
REACH = 48

_FAMILIES: dict[str, Family] = {
    **dict.fromkeys(("password", "passwd", "passwort", "passphrase", "passcode", "pwd"), Family.PASSWORD),
    **dict.fromkeys(("secret", "credential", "credentials", "key"), Family.SECRET),
    **dict.fromkeys(("token", "bearer", "jwt"), Family.TOKEN),
    "pass": Family.LOOSE,
    "auth": Family.LOGIN,
    "webhook": Family.HOOK,
    "authorization": Family.HEADER,
    "cookie": Family.COOKIE,
}
_ISSUERS = _words(
    """anthropic aws azure clearml cohere comet dashscope databricks deepseek gcp gemini github gitlab google groq hf
    hub huggingface kaggle mailgun mistral modelscope neptune npm nvidia openai openrouter pypi replicate sendgrid
    serpapi serper slack stripe swanlab tavily telegram together twilio wandb"""
)
# `reward_fn_key`, `sort_key` and `prompt_key` are column names; only these make a key a secret.
_KEY_QUALIFIERS = _ISSUERS | _words(
    """access account admin api app application auth client consumer deploy encryption hmac jwt license login master
    private secret service shared signing ssh ssl storage subscription tls webhook"""
)
_TOKEN_QUALIFIERS = _ISSUERS | _words(
    "access api auth bearer bot csrf id identity oauth personal refresh secret security service session user"
)
# Other tokens are counted: `user_tokens`, `session_tokens`.
_MANY_TOKENS = _ISSUERS | _words("access api auth bearer bot oauth personal refresh secret")
# Words of tokenizers and counters: `pad_token`, `per_token`, `max_token`.
_TEXT_TOKENS = _words(
    """additional audio begin boi bos cls decoder end eoi eos eot first forced image img last mask max min n new next no
    num pad per prefix prompt sep size sot special start stop suffix think tool unk video vision"""
)
_PASS_QUALIFIERS = _words(
    """admin auth db docker email ftp git http imap ldap login mail mongo mysql pg postgres proxy redis registry root
    sftp smtp sql ssh user vpn"""
)

# What may follow the word and still name the secret itself (`token_2`, `api_key_prod`), not something about it.
_SUFFIX = re.compile(
    r"(?:[_\-]?(?:base64|base|b64|default|dev|live|new|old|plain|prod|string|str|test|text|value|v?\d{1,3}))?"
    r"(?![A-Za-z0-9_\-])",
    re.IGNORECASE,
)
_KEY_SUFFIX = re.compile(r"[_\-]?(?:id|(?P<data>data))(?![A-Za-z0-9_\-])", re.IGNORECASE)
_HOOK_SUFFIX = re.compile(r"[_\-]?(?:address|endpoint|ur[il])s?(?![A-Za-z0-9_\-])", re.IGNORECASE)
_FURTHER_SUFFIX = {"key": _KEY_SUFFIX, "webhook": _HOOK_SUFFIX}
# A section of secrets: `passwords.db`, `api_keys.openai`.
_SECTION = re.compile(
    r"(?:\A|[._\-/])(?:(?P<passwords>passwords)|api_?keys|credentials|secrets)\.[^.]+\Z", re.IGNORECASE
)
_NAME_RUN = re.compile(r"[\w.\-/]*")
# The last word of `wandb.api_`, `openaiApi` or `AWS_ACCESS_`.
_LAST_WORD = re.compile(r"(?:[A-Z]?[a-z0-9]+|[A-Z0-9]+)(?=[^A-Za-z0-9]*\Z)")

# Names are written in lower, Capital and UPPER case; no one writes pAsSwOrD.
NAME_TRIGGERS: tuple[str, ...] = tuple(
    sorted({form for word in _FAMILIES for form in (word, word.capitalize(), word.upper())})
)
_TRIGGER = re.compile("|".join(sorted(NAME_TRIGGERS, key=len, reverse=True)))


def name_at(text: str, start: int, word: str) -> Name | None:
    """The name around the trigger `word` at `start`; None where it names no secret (`eos_token`, `tokens`)."""
    end = start + len(word)
    is_plural = text[end : end + 1] == ("S" if word.isupper() else "s")
    end += is_plural
    following = text[end : end + 1]
    if following.isupper() if word.isupper() else following.islower():
        return None
    lower = word.lower()
    suffix = _SUFFIX.match(text, end)
    if suffix is None and lower in _FURTHER_SUFFIX:
        suffix = _FURTHER_SUFFIX[lower].match(text, end)
    if suffix is None:
        return None
    left, run = _left_part(text, start)
    is_id = suffix.re is _KEY_SUFFIX and suffix["data"] is None
    family = _family_of_many(left, lower) if is_plural else _family(left, lower, is_id=is_id)
    if family is None and lower == "key" and not is_plural and not run:
        # `invalid key=…` of a sentence, `?key=…` of an address.
        family = Family.MIXED
    return None if family is None else Name(start - run, suffix.end(), family, is_plural)


def family_of(name: str) -> Family | None:
    """The family of a whole name such as `SMTP_PASSWORD`, `wandb.api_key` or `eos_token` (None)."""
    found = list(_TRIGGER.finditer(name, max(0, len(name) - 2 * REACH)))
    last = name_at(name, found[-1].start(), found[-1].group()) if found else None
    if last is not None and last.end == len(name):
        return last.family
    section = _SECTION.search(name, max(0, len(name) - 2 * REACH))
    return None if section is None else Family.PASSWORD if section["passwords"] else Family.SECRET


def _left_part(text: str, start: int) -> tuple[str, int]:
    """What stands before the trigger word in its name, and how many characters of the text that is."""
    before = text[max(0, start - REACH) : start]
    found = _NAME_RUN.match(before[::-1])
    run = 0 if found is None else found.end()
    if run:
        return before[len(before) - run :], run
    # Prose writes API key as two words.
    return (before[:-1].rpartition(" ")[2] if before.endswith(" ") else ""), 0


def _family(left: str, word: str, *, is_id: bool) -> Family | None:
    qualifier = _qualifier(left)
    if is_id:
        return Family.SECRET if qualifier == "access" else None
    # What stands before a blank is another setting or the word of a sentence: `lr=0.1 pass=…`, `the forward pass`.
    stands_alone = left.endswith((".", ",", ";", ":", "{", "(")) or "=" in left or not any(map(str.isalpha, left))
    if word == "key" and (qualifier in _KEY_QUALIFIERS or qualifier.endswith("api")):
        return Family.SECRET
    if word == "key":
        return Family.HEX if stands_alone else None
    if word == "pass" and qualifier in _PASS_QUALIFIERS:
        return Family.PASSWORD
    if word == "pass":  # the `forward pass` of a network is none
        return Family.LOOSE if stands_alone else None
    if word != "token":
        return _FAMILIES[word]
    if qualifier in _TEXT_TOKENS or left.endswith("/"):
        return None
    return Family.SECRET if qualifier in _TOKEN_QUALIFIERS or qualifier.endswith("api") else Family.TOKEN


def _family_of_many(left: str, word: str) -> Family | None:
    """`passwords` and `api_keys` hold secrets; `tokens` are counted, and most `keys` are names of columns."""
    if word in {"token", "key"}:
        qualifier, known = _qualifier(left), _MANY_TOKENS if word == "token" else _KEY_QUALIFIERS
        return Family.SECRET if qualifier in known or qualifier.endswith("api") else None
    return _FAMILIES[word] if word in {"password", "passphrase", "passcode", "secret", "webhook"} else None


def _qualifier(left: str) -> str:
    last = _LAST_WORD.search(left)
    return "" if last is None else last.group().lower()
