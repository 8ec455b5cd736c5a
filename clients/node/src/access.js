// Finds the keys that a request reads or writes, and their minimum cost.
import { attributeKey, itemSize, keyOf, price, sum } from "./item.js";
import { readCondition, readStatement } from "./text.js";

const single = (input, out) => [[input, out]];
const each = (inputs, shown = []) => inputs.map((input, i) => [input, shown[i] ?? {}]);
const inner = (items) => items.map((item) => Object.values(item)[0]);
const byTable = (tables, parts) =>
  Object.entries(tables).flatMap(([TableName, all]) => parts(all).map((part) => ({ TableName, ...part })));
const gets = (tables) => byTable(tables, (all) => all.Keys.map((Key) => ({ ...all, Key })));
const writes = (tables) => byTable(tables, inner);

/** Every operation, and its parts: the input and response of a request of one item. A condition check is a write. */
export const OPERATIONS = {
  GetItem: { parts: single },
  Query: { parts: single },
  Scan: { parts: single },
  BatchGetItem: { parts: batchGet, unprocessed: "UnprocessedKeys" },
  TransactGetItems: { transactional: true, parts: (input, out) => each(inner(input.TransactItems), out.Responses) },
  PutItem: { write: true, parts: single },
  UpdateItem: { write: true, parts: single },
  DeleteItem: { write: true, parts: single },
  BatchWriteItem: { write: true, parts: (input) => each(writes(input.RequestItems)), unprocessed: "UnprocessedItems" },
  TransactWriteItems: { write: true, transactional: true, parts: (input) => each(inner(input.TransactItems)) },
  ExecuteStatement: { statement: true, parts: single },
  BatchExecuteStatement: { statement: true, parts: (input, out) => each(input.Statements, out.Responses) },
  ExecuteTransaction: { statement: true, transactional: true, parts: (input) => each(input.TransactStatements) },
};

/** Pairs the keys of a batch with the items that came back, in any order. */
function batchGet({ RequestItems }, { Responses = {} }) {
  const id = (table, item) => {
    const names = Object.keys(RequestItems[table].Keys[0]);
    return JSON.stringify([table, names.map((name) => attributeKey(item[name]))]);
  };
  const found = byTable(Responses, (items) => items.map((Item) => ({ Item })));
  const items = new Map(found.map((one) => [id(one.TableName, one.Item), one]));
  return gets(RequestItems).map((get) => [get, items.get(id(get.TableName, get.Key)) ?? {}]);
}

export const tableName = (name = "") => (name.startsWith("arn:") ? name.split(":table/")[1]?.split("/")[0] : name);

export function estimate(access) {
  if (access.write) access.bytes = Math.max(itemSize(access.before), itemSize(access.after));
  access.units = price(access);
  return access;
}

/** Returns the accesses of a request, with estimated units in thousandths. After an error `out` is empty. */
export function readAccesses(op, input, out, schemas) {
  const { parts, unprocessed, ...operation } = OPERATIONS[op];
  const read = (part, shown) => readAccess(operation, part, shown, schemas);
  const accesses = parts(input, out).map(([part, shown]) => read(part, shown));
  if (!unprocessed || !out[unprocessed]) return accesses;
  const id = ({ table, pk, sk }) => JSON.stringify([table, pk, sk]); // which occurs only once in a batch
  const undone = new Set((operation.write ? writes : gets)(out[unprocessed]).map((part) => id(read(part, {}))));
  for (const access of accesses) access.throttle = undone.has(id(access)) ? unprocessed : undefined;
  return accesses;
}

function readAccess({ write, transactional, statement }, input, out, schemas) {
  const { TableName, IndexName: index, ReturnValues: returned, Key = {}, Item } = input;
  const access = { table: tableName(TableName), index, write, transactional, lost: [] };
  access.before = returned === "ALL_OLD" ? out.Attributes : undefined;
  access.after = returned === "ALL_NEW" ? out.Attributes : Item;
  const isPartial = statement || input.ProjectionExpression || input.AttributesToGet;
  access.bytes = isPartial ? 0 : sum(out.Items ?? [out.Item], itemSize);
  if (statement) Object.assign(access, readStatement(input), { error: out.Error });
  const schema = schemas(access.table);
  if (input.Key || Item) {
    access.pk = keyOf(Item ?? Key, schema?.partition) ?? onlyKey(Key);
    access.sk = keyOf(Item ?? Key, schema?.sort);
  } else {
    findKeys(access, access.equal ?? readCondition(input), schema);
  }
  access.read = transactional && !access.write ? "transactional" : input.ConsistentRead ? "strong" : "eventual";
  return estimate(access);
}

/** Returns the key that has a single attribute: it can only be the partition key. */
function onlyKey(attributes) {
  const values = Object.values(attributes);
  return values.length === 1 ? attributeKey(values[0]) : undefined;
}

/** Finds the keys among attributes that equal a value. A local index is charged to its table. */
function findKeys(access, equal, schema) {
  const keys = access.index ? schema?.indexes[access.index] : schema;
  if (keys?.local) access.index = undefined;
  access.pk = schema ? keyOf(equal, (keys?.local ? schema : keys)?.partition) : onlyKey(equal);
  access.sk = access.pk && !keys?.local ? keyOf(equal, keys?.sort) : undefined;
  access.unreadable = access.pk === undefined;
}

export function indexKey(item, schema, index) {
  const keys = schema?.indexes[index];
  const pk = keyOf(item, keys?.partition);
  return pk && { pk, sk: keyOf(item, keys.sort) };
}
