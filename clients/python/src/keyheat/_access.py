"""Finds the keys that a DynamoDB request reads or writes, and their minimum cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Callable, Mapping

from ._item import READ_BLOCK, WRITE_BLOCK, Item, Key, attribute_key, item_size, key_of, read_units, write_units
from ._statement import equalities, read_statement

CONDITION, CONFLICT, THROTTLED, BESIDE = "ConditionalCheckFailed", "TransactionConflict", "throttled", "None"
_THROTTLES = ("ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded")

Params = Mapping[str, Any]


def ending(code: str) -> str:
    """Returns how DynamoDB ended a request or an item, by an error's code: "" for other errors."""
    code = code.rpartition("#")[2].removesuffix("Exception")
    if code in _THROTTLES:
        return THROTTLED
    return code if code in (CONDITION, CONFLICT, BESIDE) else ""


@dataclass(frozen=True)
class Keys:
    """The key attributes of a table or an index: Keys("customer", "order").

    A table has its indexes by name. A key of several attributes is a tuple of their names. A
    local index shares the table's partitions: Keys(sort="date", local=True).
    """

    partition: str | tuple[str, ...] = ()
    sort: str | tuple[str, ...] = ()
    indexes: Mapping[str, Keys] = field(default_factory=dict)
    local: bool = False

    def __post_init__(self) -> None:
        for name in ("partition", "sort"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))


Schemas = Callable[[str], "Keys | None"]


@dataclass(slots=True)
class Access:
    """One key that a request reads or writes. Units are an estimate until it is charged."""

    table: str
    index: str = ""
    pk: Key = ()
    sk: Key = ()
    unreadable: bool = False
    write: bool = False
    transactional: bool = False
    read: str = "eventual"
    bytes: int = 0
    before: Item | None = None
    after: Item | None = None
    units: int = 0
    throttle: str = ""
    conflicts: int = 0
    conditions: int = 0
    lost: bool = False

    def estimate(self) -> None:
        """Prices the access by its known bytes."""
        if self.write:
            self.bytes = max(item_size(self.before), item_size(self.after), self.bytes)
            self.units = write_units(self.bytes, self.transactional)
        else:
            self.units = read_units(self.bytes, self.read)

    def charged_bytes(self) -> int:
        """Returns the size in whole charged blocks, so that requests of equal price fold."""
        block = WRITE_BLOCK if self.write else READ_BLOCK
        return -(-self.bytes // block) * block


def table_name(name: str) -> str:
    """Returns the name of a table from a name or an ARN."""
    return name.partition(":table/")[2].partition("/")[0] if name.startswith("arn:") else name


def strength(params: Params) -> str:
    return "strong" if params.get("ConsistentRead") else "eventual"


def count(op: str, params: Params) -> int:
    """Returns about how many records a request will make."""
    if op == "BatchGetItem":
        return 1 + sum(len(keys["Keys"]) for keys in params["RequestItems"].values())
    if op == "BatchWriteItem":
        return 1 + sum(map(len, params["RequestItems"].values()))
    items = params.get("TransactItems") or params.get("TransactStatements") or params.get("Statements")
    return 1 + len(items) if items else 1


def batch_writes(request_items: Mapping[str, Any]) -> list[Params]:
    """Returns the items of a batch as a single request has them: with a table, and an item or a key."""
    return [
        {"TableName": table} | next(iter(write.values())) for table, writes in request_items.items() for write in writes
    ]


def batch_gets(request_items: Mapping[str, Any]) -> list[Params]:
    return [
        {**keys, "TableName": table, "Key": key} for table, keys in request_items.items() for key in keys["Keys"]
    ]


class Reader:
    """Reads the accesses of a request. After an error the response is empty."""

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas
        self.accesses: list[Access] = []
        self.failed = 0
        self.not_readable = 0

    def read(self, op: str, params: Params, out: Params) -> None:
        match op:
            case "GetItem":
                self._get(params, out.get("Item"), strength(params))
            case "PutItem" | "UpdateItem" | "DeleteItem":
                self._write(params, out)
            case "Query" | "Scan":
                self._page(op, params, out)
            case "BatchGetItem":
                self._batch_get(batch_gets(params["RequestItems"]), out.get("Responses", {}))
            case "BatchWriteItem":
                for write in batch_writes(params["RequestItems"]):
                    self._write(write, {})
            case "TransactGetItems":
                for item, shown in zip_longest(params["TransactItems"], out.get("Responses", ())):
                    self._get(item["Get"], (shown or {}).get("Item"), "transactional")
            case "TransactWriteItems":  # a condition check is charged like a write
                for item in params["TransactItems"]:
                    self._write(next(iter(item.values())), {}, transactional=True)
            case _:
                for statement in params.get("TransactStatements") or params.get("Statements") or [params]:
                    self._statement(statement, op == "ExecuteTransaction")

    def _add(self, access: Access) -> None:
        access.estimate()
        self.accesses.append(access)

    def _item(self, params: Params) -> Access:
        """Returns an access of an item, whose key attributes the schema names.

        Of a table without sort key, a request by key names them itself.
        """
        access, key = Access(table_name(params["TableName"])), params.get("Key", {})
        schema = self.schemas(access.table)
        if schema:
            item = params.get("Item", key)
            access.pk, access.sk = key_of(item, schema.partition), key_of(item, schema.sort)
        if not access.pk and len(key) == 1:
            access.pk = attribute_key(next(iter(key.values())))
        return access

    def _get(self, params: Params, shown: Item | None, read: str) -> None:
        access = self._item(params)
        access.read = read
        if "ProjectionExpression" not in params and "AttributesToGet" not in params:
            access.bytes = item_size(shown)
        self._add(access)

    def _batch_get(self, gets: list[Params], responses: Mapping[str, Any]) -> None:
        shown: dict[Any, Item] = {}
        names = {get["TableName"]: tuple(get["Key"]) for get in gets}
        for table, items in responses.items():
            for item in items:
                key = {name: item[name] for name in names[table] if name in item}
                found = self._item({"TableName": table, "Key": key})
                shown[table, found.pk, found.sk] = item
        for get in gets:
            wanted = self._item(get)
            self._get(get, shown.get((get["TableName"], wanted.pk, wanted.sk)), strength(get))

    def _write(self, params: Params, out: Params, transactional: bool = False) -> None:
        access = self._item(params)
        access.write, access.transactional, access.after = True, transactional, params.get("Item")
        if params.get("ReturnValues") == "ALL_NEW":
            access.after = out.get("Attributes")
        elif params.get("ReturnValues") == "ALL_OLD":
            access.before = out.get("Attributes")
        self._add(access)

    def _page(self, op: str, params: Params, out: Params) -> None:
        index = params.get("IndexName", "")
        access = Access(table_name(params["TableName"]), read=strength(params))
        access.index = self._charged_index(access.table, index)
        if op == "Query":
            self._find_keys(access, index, equalities(params))
        if "ProjectionExpression" not in params:
            access.bytes = sum(map(item_size, out.get("Items", ())))
        self._add(access)

    def _statement(self, params: Params, transactional: bool) -> None:
        found = read_statement(params["Statement"], params.get("Parameters", ()))
        access = Access(found.table, write=found.write, transactional=transactional, after=found.inserted)
        access.index = self._charged_index(found.table, found.index)
        access.read = "transactional" if transactional and not found.write else strength(params)
        self._find_keys(access, found.index, found.equal)
        self._add(access)

    def _charged_index(self, table: str, index: str) -> str:
        """Returns the index that is charged for a read: "" for a local one."""
        schema = self.schemas(table)
        return "" if schema and index in schema.indexes and schema.indexes[index].local else index

    def _find_keys(self, access: Access, index: str, equal: Mapping[str, Any] | None) -> None:
        """Finds the keys among attributes that equal a value; None means that they are unknown."""
        schema = self.schemas(access.table)
        if equal is None:
            pass
        elif schema is None:  # a single attribute can only be the partition key
            access.pk = attribute_key(next(iter(equal.values()))) if len(equal) == 1 else ()
        else:
            keys = schema.indexes.get(index, Keys()) if index else schema
            access.pk = key_of(equal, schema.partition if keys.local else keys.partition)
            access.sk = key_of(equal, keys.sort) if access.pk and not keys.local else ()
        if not access.pk:
            self.not_readable += 1
            access.unreadable = True

    def mark_unprocessed(self, out: Params) -> None:
        """Marks a batch's unprocessed items as throttled. A key occurs only once in a batch."""
        for field_name, parts in (("UnprocessedKeys", batch_gets), ("UnprocessedItems", batch_writes)):
            for part in parts(out.get(field_name) or {}):
                undone = self._item(part)
                for access in self.accesses:
                    if (access.table, access.pk, access.sk) == (undone.table, undone.pk, undone.sk):
                        access.throttle = field_name

    def mark_failed_statements(self, out: Params) -> None:
        """Marks a batch's failed statements. One that failed otherwise cost and asked nothing."""
        kept = []
        responses = out.get("Responses", ())
        for i, access in enumerate(self.accesses):
            error = responses[i].get("Error") if i < len(responses) else None
            code = error.get("Code", "") if error else ""
            end = ending(code)
            if end == THROTTLED:
                access.throttle = code
            elif end == CONFLICT:
                access.conflicts, access.lost, access.units = 1, True, 0
            elif end == CONDITION:
                access.conditions, access.lost = 1, True
            elif error:
                self.failed += 1
                continue
            kept.append(access)
        self.accesses = kept
