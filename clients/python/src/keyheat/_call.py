"""One sampled request: its attempts, its end, and the records that follow."""

from __future__ import annotations

import copy
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Mapping

from ._access import BESIDE, CONDITION, CONFLICT, THROTTLED, Access, Reader, Schemas, ending, table_name
from ._charge import Charger
from ._fold import Cell, Fold
from ._item import Key, hide

Error = Mapping[str, Any]  # a parsed response that is an error; empty if there was no response

_TRANSACTIONS = ("TransactGetItems", "TransactWriteItems", "ExecuteTransaction")
_CANCELLED = "TransactionCanceledException"


@dataclass(slots=True)
class Throttling:
    """Why one attempt was throttled: DynamoDB's reason, or the error's code without one."""

    reason: str = ""
    table: str = ""
    index: str = ""
    items: list[str] | None = None  # of a cancelled transaction: "" for an item that was not


def code_of(error: Error) -> str:
    code: str = error.get("Error", {}).get("Code", "")
    return code.rpartition("#")[2]


def throttling_of(error: Error) -> Throttling | None:
    code = code_of(error)
    if code == _CANCELLED:
        codes = [reason.get("Code", "") for reason in error.get("CancellationReasons", ())]
        items = [item if ending(item) == THROTTLED else "" for item in codes]
        return Throttling(items=items) if any(items) else None
    if ending(code) != THROTTLED:
        return None
    chosen = Throttling(code)
    for i, reason in enumerate(error.get("ThrottlingReasons") or error.get("throttlingReasons") or ()):
        text, resource = reason.get("reason", ""), reason.get("resource", "")
        if not text or i and "KeyRange" not in text:
            continue  # a hot partition counts among several reasons, because the others would hide it
        chosen = Throttling(text, table_name(resource), resource.partition("/index/")[2])
        if i:
            break
    return chosen


def lost_by(error: Error) -> list[str]:
    """Returns the ending of each item of a cancelled transaction, or one for all items."""
    code = code_of(error)
    if code == _CANCELLED:
        return [ending(reason.get("Code", "")) for reason in error.get("CancellationReasons", ())]
    return [ending(code)] if ending(code) in (CONFLICT, CONDITION) else []


class Call:
    """Observes one request from its parameters to its end."""

    def __init__(self, op: str, params: Mapping[str, Any], rate: float, region: str) -> None:
        self.op, self.params, self.rate, self.region = op, params, rate, region
        self.time = int(time.time() * 1000)
        self.asked: tuple[str, ...] | None = None  # the caller's ReturnConsumedCapacity, if replaced
        self.attempts = 0
        self.first_ended: float | None = None
        self.refused: list[Throttling] = []
        self.lost: list[list[str]] = []

    def attempt(self, error: Error | None) -> None:
        """Notes the end of an attempt; None means success."""
        self.attempts += 1
        if error is None:
            return
        if self.first_ended is None:
            self.first_ended = time.monotonic()
        throttling, lost = throttling_of(error), lost_by(error)
        if throttling:
            self.refused.append(throttling)
        if lost:
            self.lost.append(lost)


class Ending:
    """Makes the records of a call that has ended, and adds them to the fold."""

    def __init__(self, call: Call, fold: Fold, schemas: Schemas, caller: str, secret: bytes | None) -> None:
        self.call, self.fold, self.caller, self.secret = call, fold, caller, secret
        self.reader = Reader(schemas)
        self.charger = Charger(schemas, self._emit)
        self.cells: list[Cell] = []
        self.attempts = 0  # until the records of the last attempt
        self.has_failed = False
        self.unknown_keys = 0
        self.failed = 0

    def observe(self, out: Mapping[str, Any], error: Error | None) -> None:
        call, reader = self.call, self.reader
        try:
            reader.read(call.op, call.params, {} if error is not None else out)
            self._record_refused(error)
            self._count_lost()
            self.attempts, self.has_failed = call.attempts, error is not None
            if error is not None:
                self._record_failed(error)
                return
            if call.op == "BatchExecuteStatement":
                reader.mark_failed_statements(out)
            elif call.op.startswith("Batch"):
                reader.mark_unprocessed(out)
            reported = out.get("ConsumedCapacity") or []
            self.charger.charge(call.op, reader.accesses, reported if isinstance(reported, list) else [reported])
        finally:
            self._flush()

    def _flush(self) -> None:
        """Adds the records, each with the number of the request's items on its key."""
        call, items = self.call, [(c.table, c.index_name, c.pk, c.wcu > 0, not c.wcu and not c.rcu) for c in self.cells]
        waited = 0 if call.first_ended is None else round(1000 * (time.monotonic() - call.first_ended))
        if len(items) > 1:
            together = Counter(items)
            self.cells = [cell._replace(together=together[item]) for cell, item in zip(self.cells, items)]
        self.fold.add(self.cells, waited)
        self.fold.count(
            throttled_attempts=len(call.refused), unknown_keys=self.unknown_keys, not_readable=self.reader.not_readable,
            unknown_index_keys=self.charger.unknown_index_keys, failed=self.failed + self.reader.failed,
        )  # fmt: skip

    def _emit(self, access: Access, estimated: bool) -> None:
        if not access.pk and self.call.op != "Scan":
            self.unknown_keys += not access.unreadable
            return
        lost = access.conflicts + access.conditions
        failed = self.has_failed and bool(access.throttle or access.lost and lost > 1)
        write = access.write
        self.cells.append(
            Cell(
                self.call.time // 1000 * 1000, 1, access.table, access.index, self._hide(access.pk),
                self._hide(access.sk), self.call.op, "eventual" if write else access.read, estimated,
                0 if write else access.units, access.units if write else 0, access.charged_bytes() if estimated else 0,
                self.call.rate, access.throttle, self.attempts, failed, access.conflicts, access.conditions,
                self.caller, self.call.region,
            )
        )  # fmt: skip

    def _hide(self, key: Key) -> Key:
        return hide(self.secret, key) if self.secret else key

    def _record_refused(self, error: Error | None) -> None:
        """Records the throttled attempts that carry no requested load: all but the last one's."""
        retried = self.call.refused
        if error is not None and retried and (throttling_of(error) or code_of(error) != _CANCELLED and not lost_by(error)):
            retried = retried[:-1]
        for why in retried:
            for i, access in enumerate(self.reader.accesses):
                refused = copy.copy(access)
                refused.throttle, refused.units = self._reason_for(why, i, access), 0
                if refused.throttle and refused.pk:
                    self._emit_throttled(refused, why, False)

    def _reason_for(self, why: Throttling, i: int, access: Access) -> str:
        """Returns why an access was throttled: a transaction may be refused by one of its tables."""
        if why.items is not None:
            return why.items[i] if i < len(why.items) else ""
        if why.table and why.table != access.table and self.call.op in _TRANSACTIONS:
            return ""
        return why.reason

    def _count_lost(self) -> None:
        for lost in self.call.lost:
            ends = lost if self.call.op in _TRANSACTIONS else lost * len(self.reader.accesses)
            for access, end in zip(self.reader.accesses, ends):
                access.conflicts += end == CONFLICT
                access.conditions += end == CONDITION

    def _record_failed(self, error: Error) -> None:
        """Records a request that ended in an error. Errors of no known cost are only counted."""
        accesses, code, throttling = self.reader.accesses, code_of(error), throttling_of(error)
        if code == _CANCELLED:
            self._record_cancelled(error.get("CancellationReasons", ()))
        elif ending(code) == CONDITION:
            if len(accesses) == 1 and error.get("Item"):
                accesses[0].before = error["Item"]
                accesses[0].estimate()
            self._emit_lost(1)
        elif ending(code) == CONFLICT and len(accesses) == 1:
            self._emit_lost(0)  # what it cost is unknown
        elif throttling or self.call.refused:  # the program may have given up between two attempts
            self._record_throttled(throttling or self.call.refused[-1])
        else:
            self.failed += 1

    def _emit_lost(self, times: int) -> None:
        for access in self.reader.accesses:
            access.units, access.lost = times * access.units, True
            self._emit(access, True)

    def _record_throttled(self, why: Throttling) -> None:
        for i, access in enumerate(self.reader.accesses):
            access.throttle = self._reason_for(why, i, access)
            if access.throttle:
                self._emit_throttled(access, why, True)
            else:
                self.failed += 1

    def _emit_throttled(self, access: Access, why: Throttling, estimated: bool) -> None:
        """Records a throttled access. What an index throttled is demand on the index's key, too."""
        self._emit(access, estimated)
        if not why.index or why.index == access.index or access.table != why.table:
            return
        entry = copy.copy(access)
        entry.index, entry.conflicts, entry.conditions = why.index, 0, 0
        entry.pk, entry.sk = self.charger.index_key(access, why.index)
        if entry.pk:
            self._emit(entry, estimated)
        else:
            self.charger.unknown_index_keys += 1

    def _record_cancelled(self, reasons: Any) -> None:
        """Records a cancelled transaction by the reason of each item.

        An item without an error, or with a failed condition, was prepared and never committed:
        that is half of a transaction's price. What a conflict cost is unknown.
        """
        for i, access in enumerate(self.reader.accesses):
            reason = reasons[i] if i < len(reasons) else {}
            if reason.get("Item"):
                access.before = reason["Item"]
                access.estimate()
            code = reason.get("Code", "")
            end = ending(code)
            if end == THROTTLED:
                access.throttle = code
            elif end in (BESIDE, CONDITION):
                access.units, access.lost = access.units // 2, end == CONDITION
            elif end == CONFLICT:
                access.units, access.lost = 0, True
            else:
                self.failed += 1
                continue
            self._emit(access, True)
