"""Equal records of one second, folded into one with a count, and the counts of everything."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._item import Key, key_json, read_units, write_units

READS = frozenset(("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"))
WRITES = frozenset(("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"))
STATEMENTS = frozenset(("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"))
OPERATIONS = READS | WRITES | STATEMENTS
MIN_RATE = 1e-9
_MAX_N = 1_000_000_000

Record = dict[str, Any]


@dataclass
class Stats:
    """The sampler's counts since its start. A folded record counts once for each request."""

    requests: int = 0  # all of them, and those that were kept
    kept: int = 0
    throttled_attempts: int = 0  # of kept requests
    records: int = 0  # made, taken by the sink, and lost for want of room or by the sink
    sent: int = 0
    dropped: int = 0
    unknown_keys: int = 0  # items whose key needs an unknown schema
    not_readable: int = 0  # statements and conditions without a readable key
    unknown_index_keys: int = 0  # charges to an index whose key nothing shows
    failed: int = 0  # ended in an error without known or throttled capacity
    describe_errors: int = 0  # errors inside
    sink_errors: int = 0
    panics: int = 0


class Cell(NamedTuple):
    """All fields of a record but the number of requests. Records of one cell add up."""

    time: int
    together: int  # the request's items on this key
    table: str
    index_name: str
    pk: Key
    sk: Key
    op: str
    read: str
    estimated: bool
    rcu: int
    wcu: int
    bytes: int
    rate: float
    throttle: str
    attempts: int
    failed: bool
    conflicts: int
    conditions: int
    caller: str
    region: str


def record(cell: Cell, n: int, waited: int) -> Record:
    """Returns n requests of a cell as an object of Keyheat JSON, without defaults."""
    out: Record = {"ts": cell.time, "table": cell.table, "index": cell.index_name, "op": cell.op}
    out.update(pk=key_json(cell.pk), sk=key_json(cell.sk), bytes=cell.bytes, throttle=cell.throttle, caller=cell.caller)
    out.update(region=cell.region, attempts=cell.attempts, waited_ms=waited / n, failed=cell.failed)
    out.update(conflict=n * cell.conflicts, condition_failed=n * cell.conditions, calls=n / cell.together)
    out = {name: value for name, value in out.items() if value}
    if cell.read != "eventual":
        out["read"] = cell.read
    if cell.rate != 1:
        out["rate"] = cell.rate
    if n != 1:
        out["n"] = n
    out.update(_stated_units(cell))
    return out


def _stated_units(cell: Cell) -> Record:
    """Returns the units that a decoder does not compute alike."""
    reads, writes = cell.op in READS, cell.op in WRITES
    consistency = "transactional" if cell.op == "TransactGetItems" else cell.read
    rcu = (reads or cell.rcu != 0) and not (
        cell.estimated and reads and cell.rcu == read_units(cell.bytes, consistency)
    )
    wcu = (writes or cell.wcu != 0) and not (
        cell.estimated and writes and cell.wcu == write_units(cell.bytes, cell.op == "TransactWriteItems")
    )
    wcu = wcu or not (reads or writes or rcu)
    return ({"rcu": cell.rcu / 1000} if rcu else {}) | ({"wcu": cell.wcu / 1000} if wcu else {})


class Loss(NamedTuple):
    """Dropped requests, and their first and last time in Unix milliseconds."""

    n: int
    since: int
    until: int

    def plus(self, n: int, since: int, until: int) -> Loss:
        if not self.n:
            return Loss(n, since, until)
        return Loss(self.n + n, min(self.since, since), max(self.until, until))


class Fold:
    """Collects records until the worker takes them. It never blocks: it drops beyond its bound."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.stats = Stats()
        self.closed = False
        self.forget()

    def forget(self) -> None:
        """Begins anew, with a lock that nobody holds: in the child of a fork."""
        self.lock = threading.Lock()
        self.cells: dict[Cell, list[int]] = {}
        self.lost = Loss(0, 0, 0)

    def count(self, **more: int) -> None:
        with self.lock:
            for name, n in more.items():
                if n:
                    setattr(self.stats, name, getattr(self.stats, name) + n)

    def add(self, cells: list[Cell], waited: int) -> None:
        with self.lock:
            self.stats.records += len(cells)
            for cell in cells:
                known = self.cells.get(cell)
                if self.closed or known is None and len(self.cells) >= self.limit or known and known[0] >= _MAX_N:
                    self.stats.dropped += 1
                    self.lost = self.lost.plus(1, cell.time, cell.time)
                    continue
                if known is None:
                    known = self.cells[cell] = [0, 0]
                known[0] += 1
                known[1] += waited if cell.attempts else 0

    def take(self) -> tuple[list[Record], Loss]:
        """Returns and removes all records, and what was dropped since the last take."""
        with self.lock:
            cells, lost = self.cells, self.lost
            self.cells, self.lost = {}, Loss(0, 0, 0)
        return [record(cell, n, waited) for cell, (n, waited) in cells.items()], lost


class Pace:
    """An adaptive rate. It is unbiased, because it depends only on earlier requests.

    A second begins with the rate that would have kept half the limit of the last second's
    requests. Beyond that half, the rate halves for each further 1/32 of the limit.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.lock = threading.Lock()
        self.second = 0
        self.seen = self.kept = 0.0
        self.first = 1.0

    def admit(self, records: int, second: int | None = None, chance: float | None = None) -> tuple[float, bool]:
        """Decides about a request of so many records, and returns the rate of the decision."""
        second = int(time.time()) if second is None else second
        chance = random.random() if chance is None else chance
        with self.lock:
            if second != self.second:
                self._turn(second)
            self.seen += records
            halvings = max(0, int(self.kept // (self.limit / 32)))
            rate = max(self.first * 0.5 ** min(halvings, 100), MIN_RATE)
            if chance >= rate:
                return rate, False
            self.kept += records
            return rate, True

    def _turn(self, second: int) -> None:
        self.first = 1.0
        if second == self.second + 1 and self.seen > self.limit / 2:
            self.first = self.limit / 2 / self.seen
        self.second, self.seen, self.kept = second, 0.0, -self.limit / 2
