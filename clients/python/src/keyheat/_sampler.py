"""The handlers of botocore's events that sample a client's requests."""

from __future__ import annotations

import asyncio
import inspect
import math
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ._access import Keys, count
from ._call import Call, Ending
from ._fold import MIN_RATE, OPERATIONS, Fold, Pace, Stats
from ._sink import HTTP, Sink
from ._worker import Worker

DEFAULT_MAX_PENDING = 10_000
# The smallest max_per_second: below it the steps of an adaptive rate would be coarser than the limit.
_MIN_PER_SECOND = 16
# The most tables that are remembered, described or not.
_MAX_SCHEMAS = 1000
_ASK = "ReturnConsumedCapacity"

# A tuple names the partition key, and the sort key if there is one.
Tables = Mapping[str, "Keys | tuple[str, ...]"]


class Sampler:
    """Samples the requests of DynamoDB clients: see instrument. It is safe for threads and asyncio."""

    def __init__(
        self,
        sink: Sink | None = None,
        *,
        tables: Tables | None = None,
        describe_tables: bool = False,
        rate: float | None = None,
        max_per_second: int | None = None,
        ask_capacity: bool = False,
        caller: str = "",
        hmac_key: bytes | None = None,
        max_pending: int = DEFAULT_MAX_PENDING,
    ) -> None:
        if rate is not None and (math.isnan(rate) or not (rate == 0 or MIN_RATE <= rate <= 1)):
            raise ValueError(f"keyheat: rate is {rate}: give a share in (0,1], or 0 for none")
        if max_per_second is not None and (rate is not None or max_per_second < _MIN_PER_SECOND):
            raise ValueError(f"keyheat: give max_per_second at least {_MIN_PER_SECOND}, and no rate beside it")
        if hmac_key is not None and len(hmac_key) < 16:
            raise ValueError(f"keyheat: hmac_key has {len(hmac_key)} bytes: give at least 16")
        if max_pending < 1:
            raise ValueError("keyheat: max_pending is below 1")
        self._rate = 1.0 if rate is None else rate
        self._pace = Pace(max_per_second) if max_per_second else None
        self._describe, self._ask, self._caller, self._secret = describe_tables, ask_capacity, caller, hmac_key
        self._schemas: dict[str, Keys | None] = {name: _keys(name, given) for name, given in (tables or {}).items()}
        self._client: Any = None  # describes tables
        self._tasks: set[Any] = set()
        self._fold = Fold(max_pending)
        self._worker = Worker(HTTP() if sink is None else sink, self._fold)

    def instrument(self, client: Any) -> None:
        """Samples a client or resource of boto3, botocore or aiobotocore from now on."""
        client = getattr(client.meta, "client", client)
        self._client = self._client or client
        events = client.meta.events
        # Last, behind boto3's own handler, the parameters are in DynamoDB's JSON; first, the response still is.
        events.register_last("before-parameter-build.dynamodb", self._begin, unique_id="keyheat-begin")
        events.register_first("needs-retry.dynamodb", self._attempt, unique_id="keyheat-attempt")
        events.register_first("after-call.dynamodb", self._end, unique_id="keyheat-end")
        events.register_first("after-call-error.dynamodb", self._break, unique_id="keyheat-break")

    def stats(self) -> Stats:
        """Returns the counts."""
        with self._fold.lock:
            return replace(self._fold.stats)

    def flush(self, timeout: float = 5.0) -> bool:
        """Sends the pending records now: call it at the end of a function, before it is frozen.

        Returns whether the sink has taken all of them within the timeout in seconds. What it has
        not taken is sent later.
        """
        return self._worker.flush(timeout)

    def close(self, timeout: float = 10.0) -> bool:
        """Sends the pending records, and samples no more. Returns whether the sink took all of them."""
        return self._worker.close(timeout)

    def _schema(self, table: str) -> Keys | None:
        schema = self._schemas.get(table)
        if schema is None and self._describe and table not in self._schemas and len(self._schemas) < _MAX_SCHEMAS:
            self._schemas[table] = None
            ask = partial(self._client.describe_table, TableName=table)
            if inspect.iscoroutinefunction(self._client._make_api_call):
                task = asyncio.get_running_loop().create_task(ask())
                self._tasks.add(task)  # else it may be collected before it is done
                task.add_done_callback(lambda done: self._learn(table, done.result))
            else:
                threading.Thread(target=self._learn, args=(table, ask), daemon=True).start()
        return schema

    def _learn(self, table: str, description: Callable[[], Mapping[str, Any]]) -> None:
        try:
            self._schemas[table] = _described(description())
        except (Exception, asyncio.CancelledError):
            self._fold.count(describe_errors=1)

    def _admit(self, op: str, params: Mapping[str, Any]) -> float | None:
        """Decides about a request by chance, and returns its rate, or None to drop it."""
        rate, kept = self._rate, self._rate == 1 or random.random() < self._rate
        if self._pace:
            rate, kept = self._pace.admit(count(op, params))
        self._fold.count(requests=1, kept=int(kept))
        return rate if kept else None

    def _begin(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if model.name not in OPERATIONS or self._fold.closed or context.get("is_presign_request"):
            return
        try:
            rate = self._admit(model.name, params)
            if rate is None:
                return
            call = Call(model.name, params, rate, context.get("client_region") or "")
            # DynamoDB refuses a repeated token of the caller's with another parameter.
            if self._ask and "ClientRequestToken" not in params and params.get(_ASK, "NONE") == "NONE":
                call.asked = tuple(params[key] for key in (_ASK,) if key in params)
                params[_ASK] = "INDEXES"
            context["keyheat"] = call
        except Exception:
            self._fold.count(panics=1)

    def _attempt(self, request_dict: dict[str, Any], response: Any = None, **_: Any) -> None:
        call = request_dict["context"].get("keyheat")
        if call is None:
            return
        try:
            if response is None:
                call.attempt({})  # the connection failed
            else:
                call.attempt(response[1] if response[0].status_code >= 300 else None)
        except Exception:
            self._fold.count(panics=1)

    def _end(self, http_response: Any, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        call = context.pop("keyheat", None)
        if call is not None:
            self._observe(call, parsed, parsed if http_response.status_code >= 300 else None)

    def _break(self, context: dict[str, Any], **_: Any) -> None:
        call = context.pop("keyheat", None)
        if call is not None:
            self._observe(call, {}, {})

    def _observe(self, call: Call, parsed: dict[str, Any], error: Mapping[str, Any] | None) -> None:
        try:
            Ending(call, self._fold, self._schema, self._caller, self._secret).observe(parsed, error)
            self._worker.start()
        except Exception:
            self._fold.count(panics=1)
        if call.asked is not None:  # the program gets what it asked for, and its parameters as they were
            parsed.pop("ConsumedCapacity", None)
            call.params.pop(_ASK, None)  # type: ignore[attr-defined]
            for value in call.asked:
                call.params[_ASK] = value  # type: ignore[index]


def instrument(client: Any, sink: Sink | None = None, **options: Any) -> Sampler:
    """Samples a client's requests, and sends records to the sink: a collector on this machine by default.

    tables        key attributes by table: {"orders": Keys("customer", "order")}, or a tuple
    describe_tables  asks DynamoDB once for the keys of each table that tables does not name
    rate          keeps this share of the requests; all by default
    max_per_second   adapts the rate instead, to at most about so many records a second
    ask_capacity  asks for the consumed units by index, and takes the answer out of the response
    caller        the name of this service
    hmac_key      16 bytes or more: keys leave the process only as keyed hashes
    max_pending   the most records that wait for the sink
    """
    sampler = Sampler(sink, **options)
    sampler.instrument(client)
    return sampler


def _keys(table: str, given: Keys | tuple[str, ...]) -> Keys:
    keys = given if isinstance(given, Keys) else Keys(given[:1], given[1:])
    if not keys.partition:
        raise ValueError(f"keyheat: tables, {table!r}: name the partition key's attribute")
    return keys


def _described(response: Mapping[str, Any]) -> Keys | None:
    table, indexes = response["Table"], {}
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in table.get(kind, ()):
            indexes[index["IndexName"]] = Keys(*_names(index), local=kind.startswith("Local"))
    return Keys(*_names(table), indexes=indexes)


def _names(schema: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    def of(kind: str) -> tuple[str, ...]:
        return tuple(e["AttributeName"] for e in schema["KeySchema"] if e["KeyType"] == kind)

    return of("HASH"), of("RANGE")
