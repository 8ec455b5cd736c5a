"""Spreads one hot partition key over several key shards, with the names of the Go package shardkey.

    sharding = Sharding(8, HASH_NUMBER)     # user#42 → user#42#0 … user#42#7
    name = sharding.pick("user#42", order)  # write, or read one item: by an attribute that you know
    names = sharding.all("user#42")         # query all of them to read the whole key

A later change of the number of key shards is a change of the application.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

MAX_SHARDS = 100_000
_NUMBER = re.compile(r"0|[1-9][0-9]{0,4}")
_64 = 2**64 - 1


@dataclass(frozen=True)
class Form:
    """The position of a key shard's number in a partition key.

    before and after surround the number. It is before the base with prefix, and the whole key
    with alone: the base is then in the sort key.
    """

    before: str = ""
    after: str = ""
    prefix: bool = False
    alone: bool = False

    def __post_init__(self) -> None:
        beside = self.after[:1] if self.prefix else self.before[-1:]
        if not self.alone and not beside or (self.before if self.prefix else self.after) or beside in set("0123456789"):
            raise ValueError("shardkey: the form needs a mark without a digit between base and number, and only there")

    def name(self, base: str, shard: int) -> str:
        number = f"{self.before}{shard}{self.after}"
        if self.alone:
            return number
        return number + base if self.prefix else base + number

    def parse(self, name: str) -> tuple[str, int] | None:
        """Splits a name of this form into its base and its shard: the exact inverse of name."""
        base, digits = "", name
        if self.prefix and not self.alone:
            digits, _, base = name.partition(self.after)
        elif not self.alone:
            base, _, digits = name.rpartition(self.before)
        if not (self.alone or base) or not _NUMBER.fullmatch(digits):
            return None
        return base, int(digits)


HASH_SHARD_UNDERSCORE = Form("#SHARD_")  # BASE#SHARD_7
HASH_SHARD_HASH = Form("#SHARD#")  # BASE#SHARD#7
HASH_SHARD_DASH = Form("#shard-")  # BASE#shard-7
HASH_NUMBER = Form("#")  # BASE#7
DOT_NUMBER = Form(".")  # BASE.7
NUMBER_HASH = Form(after="#", prefix=True)  # 7#BASE
NUMBER_DASH = Form(after="-", prefix=True)  # 7-BASE
NUMBER_ONLY = Form(prefix=True, alone=True)  # 7, with the base in the sort key


@dataclass(frozen=True)
class Sharding:
    """A number of key shards, and the form of their names."""

    shards: int
    form: Form = HASH_NUMBER

    def __post_init__(self) -> None:
        if not 1 <= self.shards <= MAX_SHARDS:
            raise ValueError(f"shardkey: {self.shards} shards: give 1 to {MAX_SHARDS}")

    def name(self, base: str, shard: int) -> str:
        """Returns the partition key of one shard. Shards count from 0."""
        if not base or not 0 <= shard < self.shards:
            raise ValueError(f"shardkey: shard {shard} of {self.shards} of {base!r}: there is none")
        return self.form.name(base, shard)

    def random(self, base: str) -> str:
        """Returns the partition key of a random shard, for items that are always read all together."""
        return self.name(base, random.randrange(self.shards))

    def pick(self, base: str, attribute: str) -> str:
        """Returns the partition key of an attribute's shard, which is always the same."""
        if not attribute:
            raise ValueError("shardkey: the attribute is empty: every such item would share a shard")
        return self.name(base, self._shard(base, attribute))

    def all(self, base: str) -> list[str]:
        """Returns the partition keys of all shards of a base, in order."""
        return [self.name(base, shard) for shard in range(self.shards)]

    def _shard(self, base: str, attribute: str) -> int:
        """FNV-1a, mixed by MurmurHash3's finalizer. It never changes: stored items depend on it."""
        h = 14695981039346656037
        for byte in base.encode() + b"\0" + attribute.encode():
            h = (h ^ byte) * 1099511628211 & _64
        h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & _64
        h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & _64
        return (h ^ h >> 33) * self.shards >> 64
