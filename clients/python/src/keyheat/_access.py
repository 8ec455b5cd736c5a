"""Finds the keys that a DynamoDB request reads or writes, and their minimum cost."""

from __future__ import annotations

from dataclasses import dataclass, field
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


def has_whole_items(params: Params) -> bool:
    return "ProjectionExpression" not in params and "AttributesToGet" not in params


def count(op: str, params: Params) -> int:
    """Returns about how many records a request will make."""
    if op == "BatchGetItem":
        return 1 + sum(len(keys["Keys"]) for keys in params["RequestItems"].values())
    if op == "BatchWriteItem":
        return 1 + sum(map(len, params["RequestItems"].values()))
    items = params.get("TransactItems") or params.get("TransactStatements") or params.get("Statements")
    return 1 + len(items) if items else 1


class Reader:
    """Reads the accesses of a request. After an error the response is empty."""

    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas
        self.accesses: list[Access] = []
        self.failed = 0
        self.not_readable = 0

    def read(self, op: str, params: Params, out: Params) -> None:
        READERS[op](self, params, out)

    def _add(self, access: Access) -> None:
        access.estimate()
        self.accesses.append(access)

    def _item(self, table: str, item: Item) -> Access:
        """Returns an access of a whole item, whose key attributes only the schema names."""
        access = Access(table_name(table))
        schema = self.schemas(access.table)
        if schema:
            access.pk, access.sk = key_of(item, schema.partition), key_of(item, schema.sort)
        return access

    def _key(self, table: str, key: Item) -> Access:
        """Returns an access by key. Of a table without sort key, the request itself names it."""
        access = self._item(table, key)
        if not access.pk and len(key) == 1:
            access.pk = attribute_key(next(iter(key.values())))
        return access

    def _charged_index(self, table: str, index: str) -> str:
        """Returns the index that is charged for a read: "" for a local one."""
        schema = self.schemas(table)
        return "" if schema and index in schema.indexes and schema.indexes[index].local else index

    def _get(self, params: Params, out: Params) -> None:
        access = self._key(params["TableName"], params["Key"])
        access.read = strength(params)
        if has_whole_items(params):
            access.bytes = item_size(out.get("Item"))
        self._add(access)

    def _write(self, params: Params, out: Params) -> None:
        put = "Item" in params
        access = self._item(params["TableName"], params["Item"]) if put else self._key(params["TableName"], params["Key"])
        access.write, access.after = True, params.get("Item")
        returns = params.get("ReturnValues")
        if returns == "ALL_NEW":
            access.after = out.get("Attributes")
        elif returns == "ALL_OLD":
            access.before = out.get("Attributes")
        self._add(access)

    def _query(self, params: Params, out: Params) -> None:
        index = params.get("IndexName", "")
        access = Access(table_name(params["TableName"]), read=strength(params))
        access.index = self._charged_index(access.table, index)
        self._find_keys(access, index, equalities(params))
        if "ProjectionExpression" not in params:
            access.bytes = sum(map(item_size, out.get("Items", ())))
        self._add(access)

    def _scan(self, params: Params, out: Params) -> None:
        access = Access(table_name(params["TableName"]), read=strength(params))
        access.index = self._charged_index(access.table, params.get("IndexName", ""))
        if "ProjectionExpression" not in params:
            access.bytes = sum(map(item_size, out.get("Items", ())))
        self._add(access)

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

    def _batch_get(self, params: Params, out: Params) -> None:
        for table, keys in params["RequestItems"].items():
            sizes = {}
            if has_whole_items(keys):
                for item in out.get("Responses", {}).get(table, ()):
                    found = self._key(table, {name: item.get(name) for name in keys["Keys"][0]})
                    sizes[found.pk, found.sk] = item_size(item)
            for key in keys["Keys"]:
                access = self._key(table, key)
                access.read, access.bytes = strength(keys), sizes.get((access.pk, access.sk), 0)
                self._add(access)

    def _batch_write(self, params: Params, out: Params) -> None:
        for table, writes in params["RequestItems"].items():
            for write in writes:
                self._add(self._one_write(table, write))

    def _one_write(self, table: str, write: Params) -> Access:
        if "PutRequest" in write:
            access = self._item(table, write["PutRequest"]["Item"])
            access.after = write["PutRequest"]["Item"]
        else:
            access = self._key(table, write["DeleteRequest"]["Key"])
        access.write = True
        return access

    def _transact_get(self, params: Params, out: Params) -> None:
        responses = out.get("Responses", ())
        for i, item in enumerate(params["TransactItems"]):
            get = item["Get"]
            access = self._key(get["TableName"], get["Key"])
            access.read = "transactional"
            if "ProjectionExpression" not in get and i < len(responses):
                access.bytes = item_size(responses[i].get("Item"))
            self._add(access)

    def _transact_write(self, params: Params, out: Params) -> None:
        for item in params["TransactItems"]:  # a condition check is charged like a write
            kind, write = next(iter(item.items()))
            access = (self._item if kind == "Put" else self._key)(write["TableName"], write.get("Item") or write["Key"])
            access.write, access.transactional, access.after = True, True, write.get("Item")
            self._add(access)

    def _statement(self, params: Params, out: Params, transactional: bool = False) -> None:
        found = read_statement(params["Statement"], params.get("Parameters", ()))
        access = Access(found.table, write=found.write, transactional=transactional, after=found.inserted)
        access.index = self._charged_index(found.table, found.index)
        access.read = "transactional" if transactional and not found.write else strength(params)
        self._find_keys(access, found.index, found.equal)
        self._add(access)

    def _statements(self, params: Params, out: Params) -> None:
        for statement in params.get("Statements") or params["TransactStatements"]:
            self._statement(statement, out, "TransactStatements" in params)

    def mark_unprocessed(self, out: Params) -> None:
        """Marks a batch's unprocessed items as throttled, and the failed ones of statements."""
        for table, keys in (out.get("UnprocessedKeys") or {}).items():
            for key in keys["Keys"]:
                self._mark(self._key(table, key), "UnprocessedKeys")
        for table, writes in (out.get("UnprocessedItems") or {}).items():
            for write in writes:
                self._mark(self._one_write(table, write), "UnprocessedItems")

    def _mark(self, undone: Access, reason: str) -> None:
        for access in self.accesses:
            if (access.table, access.pk, access.sk) == (undone.table, undone.pk, undone.sk):
                access.throttle = reason

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


READERS: dict[str, Callable[[Reader, Params, Params], None]] = {
    "GetItem": Reader._get,
    "BatchGetItem": Reader._batch_get,
    "Query": Reader._query,
    "Scan": Reader._scan,
    "TransactGetItems": Reader._transact_get,
    "PutItem": Reader._write,
    "UpdateItem": Reader._write,
    "DeleteItem": Reader._write,
    "BatchWriteItem": Reader._batch_write,
    "TransactWriteItems": Reader._transact_write,
    "ExecuteStatement": Reader._statement,
    "BatchExecuteStatement": Reader._statements,
    "ExecuteTransaction": Reader._statements,
}
