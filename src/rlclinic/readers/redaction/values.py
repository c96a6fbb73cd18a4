"""Whether a value could be a secret at all: placeholders, code, paths and numbers are not."""

from __future__ import annotations

import base64
import binascii
import re

from rlclinic.readers.redaction.words import Family

# Characters of a value that are looked at; a longer one is judged by its beginning.
_HEAD = 64

_HARMLESS = frozenset(
    ("any", "auto", "bool", "bytes", "changeme", "default", "disabled", "dummy", "empty", "enabled", "false",
     "hidden", "int", "invalid", "missing", "na", "nil", "no", "none", "null", "off", "on", "optional",
     "placeholder", "protected", "redacted", "required", "secret", "set", "str", "string", "token", "true",
     "undefined", "unset", "yes")
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?[\d_]{0,64}\.?\d{1,64}(?:[eE][-+]?\d{1,4})?\Z")
_TEMPLATE = re.compile(r"\$\{|\$\(|\$[A-Z_]|%\(|%s|\{|<[^>]*>?\Z|\[[\w .]*\]?\Z|\\u003c|your[_\-]|process\.env")
# The annotation of an argument: `password: str | None = None`.
_TYPE = re.compile(r"(?:str|bytes|bool|int|None|Any|Optional|Union|SecretStr|SecretBytes)\b\s*(?:[|=,\[)].*)?\Z")
_CODE = re.compile(
    r"(?:args|cfg|conf|config|env|hparams|kwargs|opt|options|os|params|self|settings|user)\.\w|[\w.]{0,64}[(\[]"
)
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.\-]*[a-z._\-][\w.\-]*(?:/|\Z)|[A-Za-z]:\\|\\\\|\w+://|[\w./\-]+\.[a-z]{2,5}\Z")
_DIGIT = re.compile(r"[0-9]")
_MIXED = re.compile(r"[a-z].*?[A-Z]|[A-Z].*?[a-z].*?[A-Z]", re.DOTALL)
_QUANTITY = re.compile(r"[-+\d.,/:%]+[A-Za-zµ%/]{0,5}\Z")
_USER_PASSWORD = re.compile(r"[^\s:/]{1,64}:[^\s/]{4,}\Z")
_HOOK_ADDRESS = re.compile(r"\w+://[^/\s]+/[^\s]{6,}")
_HEX_KEY = re.compile(r"[0-9a-f]{40}\Z")
_ALNUM_KEY = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9]{20,128}\Z")
_CHANGE = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")


def is_masked(value: str) -> bool:
    """Already hidden by whoever wrote it: `***`, `xxxx`, `sk-ab***yz`, `[redacted]`."""
    if not value.strip("*•xX.#-_ "):
        return True
    return "***" in value or "[redacted" in value or "…" in value


def is_harmless(value: str) -> bool:
    """Empty, masked, a placeholder or a reference to a secret kept elsewhere."""
    bare = value.strip(" \t\r,;")
    return is_masked(bare) or bare.lower() in _HARMLESS or _TEMPLATE.match(bare) is not None


def is_path(value: str) -> bool:
    """A file or folder."""
    return _PATH.match(value[: 4 * _HEAD]) is not None


def convinces(family: Family, value: str, *, is_quoted: bool) -> bool:
    """Whether a value looks enough like a secret for the family of its name."""
    if is_harmless(value) or (not is_quoted and (_CODE.match(value) or _TYPE.match(value))):
        return False
    if family is Family.PASSWORD:
        return len(value) >= 3 and not (_NUMBER.match(value) and "." in value)
    if family in {Family.HEX, Family.MIXED}:
        return (family is Family.HEX and _HEX_KEY.match(value) is not None) or is_mixed(value)
    if family is Family.HOOK:
        return _HOOK_ADDRESS.match(value) is not None or is_random(value)
    if len(value) < 6 or " " in value or _NUMBER.match(value) or _CONSTANT_NAME.match(value):
        return False
    if family is Family.SECRET:
        return is_strong(value) and (is_random(value) or not is_path(value))
    if family is Family.LOOSE:
        return is_strong(value) and not _QUANTITY.match(value) and not is_path(value)
    if family is Family.LOGIN and (is_login(value) or (_USER_PASSWORD.match(value) and is_strong(value))):
        return True
    return is_random(value) and not is_path(value)


def is_login(value: str) -> bool:
    """`user:password` in base64, as docker's `auth` and the Basic scheme write it."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii()


def is_strong(value: str) -> bool:
    """More than a word: it has digits, or is long for what it is."""
    head = value[:_HEAD]
    if _DIGIT.search(head):
        return True
    return len(head) >= 16 if _MIXED.match(head) else len(head) >= 24 and head.isalnum()


def is_mixed(value: str) -> bool:
    """As random as what issuers hand out: names of classes, of runs and of files change far less often."""
    return _ALNUM_KEY.match(value) is not None and len(_CHANGE.findall(value)) >= 0.45 * len(value)


def is_random(value: str) -> bool:
    """Random text changes between letters, capitals and digits all the time; words and versions rarely do."""
    head = value[:_HEAD]
    if len(head) < 10 or not (_DIGIT.search(head) or (len(head) >= 24 and _MIXED.match(head))):
        return False
    changes = len(_CHANGE.findall(head))
    return changes >= 3 and changes >= 0.15 * len(head)
