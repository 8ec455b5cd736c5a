"""Splits the capacity that DynamoDB reported over the keys that a request accessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Mapping

from ._access import Access, Schemas, table_name
from ._item import Item, Key, key_of, write_units

Report = Mapping[str, Any]
Emit = Callable[[Access, bool], None]


def milli(units: Any) -> int:
    """Converts DynamoDB's units to thousandths."""
    return int((units or 0) * 1000 + 0.5)


class Charger:
    """Emits a successful request's accesses with reported units, or with their estimates."""

    def __init__(self, schemas: Schemas, emit: Emit) -> None:
        self.schemas, self.emit = schemas, emit
        self.unknown_index_keys = 0

    def charge(self, op: str, accesses: list[Access], reported: list[Report]) -> None:
        if len(reported) == len(accesses) and op in ("BatchExecuteStatement", "ExecuteTransaction"):
            for access, report in zip(accesses, reported):  # one report for each statement, in order
                self._charge_once([access], [report])
            return
        self._charge_once(accesses, _by_table(reported))

    def _charge_once(self, accesses: list[Access], reported: list[Report]) -> None:
        for report in reported:
            self._charge_table(accesses, report)
        tables = {table_name(report.get("TableName", "")) for report in reported}
        for access in accesses:
            if access.throttle or access.table not in tables:
                self.emit(access, True)

    def _charge_table(self, accesses: list[Access], report: Report) -> None:
        table = table_name(report.get("TableName", ""))
        charged = [a for a in accesses if a.table == table and not a.throttle]
        base, read = [a for a in charged if not a.index], [a for a in charged if a.index]
        indexes = report.get("GlobalSecondaryIndexes") or {}
        if not report.get("Table") and not indexes:  # a report of TOTAL, or of an index alone
            both = base + read
            self._split(both, milli(report.get("CapacityUnits")), self._may_hide_indexes(both))
            return
        self._split(base, _table_units(report), False)
        if read:
            self._split(read, milli(indexes.get(read[0].index, {}).get("CapacityUnits")), False)
            return
        for name, units in indexes.items():
            self._charge_index(base, name, milli(units.get("CapacityUnits")))

    def _may_hide_indexes(self, accesses: list[Access]) -> bool:
        """Reports whether a total of writes may include the cost of global indexes."""
        if not accesses or not accesses[0].write:
            return False
        schema = self.schemas(accesses[0].table)
        return schema is None or any(not index.local for index in schema.indexes.values())

    def _split(self, accesses: list[Access], total: int, guessed: bool) -> None:
        """Splits the total by the estimates. If these do not add up to it, the split is a guess."""
        weight = sum(access.units for access in accesses)
        guessed = guessed or len(accesses) > 1 and weight != total
        upto = given = 0
        for access in accesses:
            upto += access.units
            share = total * upto // weight if weight else total
            access.units, given = share - given, share
            access.bytes = 0
            self.emit(access, guessed)

    def _charge_index(self, accesses: list[Access], index: str, total: int) -> None:
        """Charges an index to the keys of its changed entries: one that moved has two."""
        if not total:
            return
        entries = [entry for access in accesses for entry in self._entries(access, index)]
        if not entries:
            self.unknown_index_keys += 1
            return
        self._split(entries, total, False)

    def _entries(self, access: Access, index: str) -> list[Access]:
        keys = [self._key_in(item, access.table, index) for item in (access.before, access.after)]
        return [
            Access(access.table, index, pk, sk, write=True, units=write_units(0, False))
            for pk, sk in dict.fromkeys(keys)
            if pk
        ]

    def index_key(self, access: Access, index: str) -> tuple[Key, Key]:
        """Returns the item's new key in an index, or its old key if it has no new one."""
        found = self._key_in(access.after, access.table, index)
        return found if found[0] else self._key_in(access.before, access.table, index)

    def _key_in(self, item: Item | None, table: str, index: str) -> tuple[Key, Key]:
        schema = self.schemas(table)
        keys = schema.indexes.get(index) if schema and item else None
        pk = key_of(item, keys.partition) if keys else ()
        return (pk, key_of(item, keys.sort)) if keys and pk else ((), ())


def _table_units(report: Report) -> int:
    """Returns the units of the table and of its local indexes, which share its partitions."""
    local = (report.get("LocalSecondaryIndexes") or {}).values()
    return milli((report.get("Table") or {}).get("CapacityUnits")) + sum(milli(c.get("CapacityUnits")) for c in local)


def _by_table(reported: list[Report]) -> list[Report]:
    """Adds the reports of the same table, so that each table is split once."""
    sums: dict[str, Report] = {}
    for report in reported:
        table = table_name(report.get("TableName", ""))
        sums[table] = _plus(sums[table], report) if table in sums else report
    return list(sums.values())


def _plus(a: Report, b: Report) -> Report:
    out: dict[str, Any] = {"TableName": a.get("TableName", "")}
    out["CapacityUnits"] = (a.get("CapacityUnits") or 0) + (b.get("CapacityUnits") or 0)
    if a.get("Table") or b.get("Table"):
        out["Table"] = {"CapacityUnits": (_table_units(a) + _table_units(b)) / 1000}
    indexes = dict(a.get("GlobalSecondaryIndexes") or {})
    for name, units in (b.get("GlobalSecondaryIndexes") or {}).items():
        both = (indexes.get(name, {}).get("CapacityUnits") or 0) + (units.get("CapacityUnits") or 0)
        indexes[name] = {"CapacityUnits": both}
    out["GlobalSecondaryIndexes"] = indexes
    return out
