"""Reads key conditions and simple PartiQL statements, as far as their text shows a key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

_CONDITION = re.compile(r"[^ \t\r\n()=<>,]+|[<>][=>]*|=")
# A quoted word with doubled quotes inside, a number, a name, a comparison, or a single sign.
_STATEMENT = re.compile(
    r"""'(?:[^']|'')*'?|"(?:[^"]|"")*"?|[0-9-][^ \t\r\n'"=<>,?:()\[\]{}]*"""
    r"""|[^ \t\r\n'"=<>,.?:()\[\]{}]+|[<>][=>]|[^ \t\r\n]"""
)


def equalities(params: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the attributes that a Query's condition compares by equality."""
    equal = {
        name: condition["AttributeValueList"][0]
        for name, condition in params.get("KeyConditions", {}).items()
        if condition.get("ComparisonOperator") == "EQ" and len(condition.get("AttributeValueList", ())) == 1
    }
    names, values = params.get("ExpressionAttributeNames", {}), params.get("ExpressionAttributeValues", {})
    words = _CONDITION.findall(params.get("KeyConditionExpression", ""))
    for name, sign, value in zip(words, words[1:], words[2:]):
        if sign == "=" and value in values:
            name = names.get(name) if name.startswith("#") else name
            if name:
                equal[name] = values[value]
    return equal


@dataclass(slots=True)
class Statement:
    """The readable parts of a PartiQL statement. equal is None if its key cannot be read."""

    table: str = ""
    index: str = ""
    write: bool = False
    equal: dict[str, Any] | None = None
    inserted: dict[str, Any] | None = field(default=None)


def read_statement(text: str, parameters: Sequence[Any]) -> Statement:
    """Finds the table, and the attributes of equalities or of a new item.

    An OR, a NOT or an IN makes the key unreadable, because an equality then need not hold.
    """
    words, found = _STATEMENT.findall(text), Statement()
    for i, word in enumerate(words[:-1]):
        if word.upper() in ("FROM", "INTO", "UPDATE"):
            found.table = _unquote(words[i + 1])
            if words[i + 2 : i + 3] == ["."] and i + 3 < len(words):
                found.index = _unquote(words[i + 3])
            break
    if not found.table:
        return found
    first = words[0].upper()
    found.write = first != "SELECT"
    if first == "INSERT":
        found.equal = found.inserted = _pairs(words, parameters, "VALUE", ":")
    else:
        found.equal = _pairs(words, parameters, "WHERE", "=")
    return found


def _pairs(words: list[str], parameters: Sequence[Any], keyword: str, sign: str) -> dict[str, Any] | None:
    """Returns the "name = value" pairs behind a keyword, without those inside of attributes."""
    found: dict[str, Any] = {}
    inside, parameter, depth = False, 0, 0
    for i, word in enumerate(words):
        upper = word.upper()
        if upper == keyword:
            inside = True
        elif inside and upper in ("OR", "NOT", "IN"):
            return None
        elif word in "{[":
            depth += 1
        elif word in "}]":
            depth -= 1
        elif inside and word == sign and depth <= 1 and i + 1 < len(words) and (i < 2 or words[i - 2] != "."):
            value = _literal(words[i + 1], parameters, parameter)
            if value is not None:
                found[_unquote(words[i - 1])] = value
        parameter += word == "?"
    return found or None


def _literal(word: str, parameters: Sequence[Any], following: int) -> Any:
    if word == "?":
        return parameters[following] if following < len(parameters) else None
    if word[0] == "'":
        return {"S": _unquote(word)}
    return {"N": word} if word[0] in "-0123456789" else None


def _unquote(word: str) -> str:
    if len(word) >= 2 and word[0] in "'\"":
        return word[1:-1].replace(word[0] * 2, word[0])
    return word
