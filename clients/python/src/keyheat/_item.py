"""Keys, sizes and prices of items in DynamoDB's JSON, as botocore sends and returns them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Any, Iterable, Mapping

Item = Mapping[str, Mapping[str, Any]]
# The type and text of each attribute of a key. The empty Key is unknown.
Key = tuple[tuple[str, str], ...]

_INTEGER = re.compile(r"-?[1-9][0-9]{0,37}|0")
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?")

# DynamoDB's numbers. Source: Developer Guide, "Supported data types and naming rules".
_MAX_DIGITS, _MAGNITUDES = 38, range(-130, 126)

# A price covers so many bytes. Source: Developer Guide, "DynamoDB read and write operations".
READ_BLOCK, WRITE_BLOCK = 4096, 1024
# The price of a block in thousandths of a unit, by consistency.
READ_PRICE = {"eventual": 500, "strong": 1000, "transactional": 2000}

# The most components of a key that are hashed apart: the rest is one more.
_MAX_HIDDEN = 16


def _decimal(text: str) -> tuple[str, str, int] | None:
    """Splits a number into its sign, its significant digits, and its first digit's power of ten."""
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    sign, whole, fraction, exponent = match.groups()
    digits = (whole + fraction).lstrip("0")
    zeros = len(whole) + len(fraction) - len(digits)
    return sign, digits.rstrip("0"), len(whole) - 1 - zeros + int(exponent or 0)


def canonical_number(text: str) -> str | None:
    """Returns a number as DynamoDB writes it, so that 42, 42.0 and 4.2e1 are one key."""
    if _INTEGER.fullmatch(text):
        return text
    parsed = _decimal(text)
    if not parsed:
        return None
    sign, digits, magnitude = parsed
    if not digits:
        return "0"
    if len(digits) > _MAX_DIGITS or magnitude not in _MAGNITUDES:
        return None
    sign, whole = sign.strip("+"), magnitude + 1
    if whole <= 0:
        return f"{sign}0.{'0' * -whole}{digits}"
    if whole >= len(digits):
        return sign + digits.ljust(whole, "0")
    return f"{sign}{digits[:whole]}.{digits[whole:]}"


def attribute_key(value: Mapping[str, Any] | None) -> Key:
    """Returns the key of an attribute's value, or () if the value cannot be a key."""
    if not value:
        return ()
    kind, content = next(iter(value.items()))
    text: str | None = None
    if kind == "S":
        text = content
    elif kind == "N":
        text = canonical_number(content)
    elif kind == "B":
        text = base64.b64encode(_raw(content)).decode()
    return ((kind, text),) if text else ()


def key_of(item: Item | None, names: Iterable[str]) -> Key:
    """Joins the named attributes of an item, or returns () if one is missing."""
    parts: Key = ()
    for name in names if item else ():
        part = attribute_key(item.get(name))  # type: ignore[union-attr]
        if not part:
            return ()
        parts += part
    return parts


def key_json(key: Key) -> Any:
    """Returns a key in Keyheat JSON: a string as it is, another type with its letter."""
    parts = [text if kind == "S" else {kind: text} for kind, text in key]
    return parts[0] if len(parts) == 1 else parts


def hide(secret: bytes, key: Key) -> Key:
    """Replaces each attribute, and each part of a string between '#', by its keyed hash."""
    return tuple(("S", "#".join(_hash(secret, kind, part) for part in _components(kind, text))) for kind, text in key)


def _components(kind: str, text: str) -> list[str]:
    return text.split("#", _MAX_HIDDEN - 1) if kind == "S" else [text]


def _hash(secret: bytes, kind: str, text: str) -> str:
    digest = hmac.new(secret, (kind + text).encode("utf-8", "replace"), hashlib.sha256).digest()
    return "~" + base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def _raw(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _number_size(text: str) -> int:
    parsed = _decimal(text)
    return (len(parsed[1]) + 1 if parsed else 1) // 2 + 1


def item_size(item: Item | None) -> int:
    """Returns an item's size as DynamoDB charges it ("DynamoDB item sizes and formats")."""
    return sum(_utf8(name) + _value_size(value) for name, value in item.items()) if item else 0


def _value_size(value: Mapping[str, Any]) -> int:
    kind, content = next(iter(value.items()))
    if kind == "S":
        return _utf8(content)
    if kind == "N":
        return _number_size(content)
    if kind == "B":
        return len(_raw(content))
    if kind == "L":
        return 3 + sum(1 + _value_size(element) for element in content)
    if kind == "M":
        return 3 + len(content) + item_size(content)
    if kind == "SS":
        return sum(map(_utf8, content))
    if kind == "NS":
        return sum(map(_number_size, content))
    if kind == "BS":
        return sum(len(_raw(one)) for one in content)
    return 1  # BOOL and NULL


def read_units(size: int, consistency: str) -> int:
    """Returns the price of a read in thousandths. An unknown size costs the minimum."""
    return max(1, -(-size // READ_BLOCK)) * READ_PRICE[consistency]


def write_units(size: int, transactional: bool) -> int:
    """Returns the price of a write in thousandths. An unknown size costs the minimum."""
    return max(1, -(-size // WRITE_BLOCK)) * (2000 if transactional else 1000)
