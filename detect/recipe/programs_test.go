package recipe_test

// The programs that run the code, and the few lines of DynamoDB that it runs against.

// The items' programs are called with the suffix and the mode: "moves", "reads" or "index".
// Each story is a change between the reading of an item and its move, which is done twice.

const pythonItems = `
import json
import sys
import shards
from boto3 import BEFORE, QUERIED, TABLE
suffix, mode = sys.argv[1:]
shards.time.sleep = lambda _: None
ids = ["id-%d-ß" % i for i in range(300)]
made = {"id": shards.OLD} if mode == "reads" else {}
for i, item_id in enumerate(ids):
    item = {**made, "at": "%04d" % i, "v": i}
    if mode == "index":
        item["id"] = item_id
    shards.put(None if suffix == "random" and mode != "reads" else item_id, item)
read = [item["at"] for item in shards.read_all()]
keys = sorted({item.get("status_shard", key) for (key, _), item in TABLE.items()})

def stored(name, v):
    item = {"id": "1" if mode == "index" else shards.OLD, "status": shards.OLD, "at": name, "v": v}
    TABLE[item["id"], name] = item
    return dict(item)

def change(v):
    TABLE["1" if mode == "index" else shards.OLD, "a"]["v"] = v

def closed():
    TABLE["1", "a"]["status"] = "DONE"

stories = {"calm": lambda: None, "conflict": lambda: "conflict", "updated": lambda: change("updated")}
if mode == "index":
    stories["put"] = lambda: shards.put("b", {"id": "1", "status": shards.OLD, "at": "a", "v": "put"})
    stories["removed"] = lambda: TABLE.pop(("1", "a"))
    stories["closed"] = closed
else:
    stories["put"] = lambda: shards.put("a", {"id": shards.OLD, "at": "a", "v": "put"})
    stories["removed"] = lambda: shards.remove("a", "a")
told = {}
for name, happens in stories.items():
    TABLE.clear()
    items = [stored("a", "old")]
    BEFORE.append(happens)
    shards.copy(items, lambda item: item["at"])
    shards.copy(items, lambda item: item["at"])
    told[name] = [item["v"] for item in shards.read_all()] + [len(TABLE)]
    if mode == "index" and name == "put":  # it keeps the shard that it was put in
        assert TABLE["1", "a"]["status_shard"] == shards.name(shards.shard_of("b"))
both = []
if mode == "moves":
    TABLE.clear()
    stored("a", "old")
    shards.put("a", {"at": "a", "v": "newer"})
    b = stored("b", "old")
    QUERIED.append(lambda: shards.move("b", b))
    both = [item["v"] for item in shards.read_all()]
    both += [item["v"] for item in shards.read_all(with_old=False)]
print(json.dumps({"Names": [shards.name(n) for n in range(shards.SHARDS)], "Chosen": [shards.shard_of(i) for i in ids],
                  "Read": read, "Told": told, "Both": both, "Keys": keys}))
`

const pythonCounter = `
import json
import shards
from boto3 import TABLE
TABLE[(shards.OLD, "s")] = {"id": shards.OLD, "at": "s", "value": 1200}
for _ in range(300):
    shards.add("s", 2)
print(json.dumps({"Names": [shards.name(n) for n in range(shards.SHARDS)], "Total": shards.total("s"), "Keys": sorted({key for key, _ in TABLE})}))
`

var pythonFakes = map[string]string{
	"boto3/__init__.py": `
from botocore.exceptions import ClientError
TABLE = {}
BEFORE = []  # what happens before the next conditional write
QUERIED = []  # and after the next page

def of(key):
    return key["id"], key["at"]

def happens():
    return BEFORE.pop()() if BEFORE else None

def holds(stored, ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues={}, **_):
    for clause in ConditionExpression.split(" AND "):
        if clause.startswith("attribute_"):
            what, name = clause[:-1].split("(")
            if (ExpressionAttributeNames[name] in (stored or {})) != (what == "attribute_exists"):
                return False
        else:
            name, value = clause.split(" = ")
            if (stored or {}).get(ExpressionAttributeNames[name]) != ExpressionAttributeValues[value]:
                return False
    return True

class Client:
    def transact_write_items(self, TransactItems):
        why = [{"Code": "TransactionConflict"}, {"Code": "None"}]
        if happens() != "conflict":
            why = []
            for action in TransactItems:
                (what, part), = action.items()
                assert part["TableName"] == "orders"
                held = holds(TABLE.get(of(part.get("Key") or part["Item"])), **part)
                why.append({"Code": "None" if held else "ConditionalCheckFailed"})
        if any(reason["Code"] != "None" for reason in why):
            raise ClientError("TransactionCanceledException", why)
        for action in TransactItems:
            if "Delete" in action:
                TABLE.pop(of(action["Delete"]["Key"]), None)
            elif "Put" in action:
                TABLE[of(action["Put"]["Item"])] = action["Put"]["Item"]
            else:
                assert "ConditionCheck" in action

class Meta:
    client = Client()

class Table:
    name = "orders"
    meta = Meta()

    def put_item(self, Item):
        TABLE[of(Item)] = Item

    def delete_item(self, Key):
        TABLE.pop(of(Key), None)

    def get_item(self, Key, ConsistentRead):
        assert ConsistentRead
        return {"Item": dict(TABLE[of(Key)])} if of(Key) in TABLE else {}

    def query(self, KeyConditionExpression, ExclusiveStartKey=None, ConsistentRead=False, IndexName=None):
        attribute, value = KeyConditionExpression
        assert attribute == ("status_shard" if IndexName else "id")
        items = sorted((item for item in TABLE.values() if item.get(attribute) == value), key=lambda item: item["at"])
        first = ExclusiveStartKey or 0
        page = {"Items": items[first:first + 3]}
        if first + 3 < len(items):
            page["LastEvaluatedKey"] = first + 3
        if QUERIED:
            QUERIED.pop()()
        return page

    def update_item(self, Key, **update):
        if "ConditionExpression" in update:
            assert update["UpdateExpression"] == "SET #pk = :shard"
            if happens() == "conflict" or not holds(TABLE.get(of(Key)), **update):
                raise ClientError("ConditionalCheckFailedException")
            TABLE[of(Key)][update["ExpressionAttributeNames"]["#pk"]] = update["ExpressionAttributeValues"][":shard"]
            return
        self.add(Key, **update)

    def add(self, Key, UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues):
        assert UpdateExpression == "ADD #v :n"
        item = TABLE.setdefault((Key["id"], Key["at"]), dict(Key))
        name = ExpressionAttributeNames["#v"]
        item[name] = item.get(name, 0) + ExpressionAttributeValues[":n"]

class Resource:
    def Table(self, name):
        assert name == "orders"
        return Table()

    def batch_get_item(self, RequestItems):
        keys = RequestItems["orders"]["Keys"]
        assert 0 < len(keys) <= 100
        page = {"Responses": {"orders": [TABLE[k["id"], k["at"]] for k in keys[:7] if (k["id"], k["at"]) in TABLE]}}
        if len(keys) > 7:
            page["UnprocessedKeys"] = {"orders": {"Keys": keys[7:]}}
        return page

def resource(name):
    assert name == "dynamodb"
    return Resource()
`,
	"boto3/dynamodb/__init__.py": "",
	"boto3/dynamodb/conditions.py": `
class Key:
    def __init__(self, name): self.name = name
    def eq(self, value): return (self.name, value)
`,
	"botocore/__init__.py": "",
	"botocore/exceptions.py": `
class ClientError(Exception):
    def __init__(self, code, why=None): self.response = {"Error": {"Code": code}, "CancellationReasons": why}
`,
}

const nodeItems = `
import { BEFORE, QUERIED, TABLE } from "@aws-sdk/lib-dynamodb";
import * as shards from "./shards.mjs";
const [suffix, mode] = process.argv.slice(2);
const ids = Array.from({ length: 300 }, (_, i) => "id-" + i + "-ß");
const made = mode === "reads" ? { id: shards.OLD } : {};
for (const [i, id] of ids.entries()) {
  const item = { ...made, at: String(i).padStart(4, "0"), v: i };
  if (mode === "index") item.id = id;
  await shards.put(suffix === "random" && mode !== "reads" ? null : id, item);
}
const Read = (await shards.readAll()).map((item) => item.at);
const Keys = [...new Set([...TABLE.values()].map((item) => item.status_shard ?? item.id))];
const of = (id, at) => JSON.stringify([id, at]);
const home = mode === "index" ? "1" : shards.OLD;
const stored = (at, v) => {
  const item = { id: home, status: shards.OLD, at, v };
  TABLE.set(of(home, at), item);
  return { ...item };
};
const stories = {
  calm: () => {},
  conflict: () => "conflict",
  updated: () => { TABLE.get(of(home, "a")).v = "updated"; },
  put: () => shards.put(mode === "index" ? "b" : "a", { id: home, status: shards.OLD, at: "a", v: "put" }),
  removed: () => (mode === "index" ? void TABLE.delete(of(home, "a")) : shards.remove("a", "a")),
};
if (mode === "index") stories.closed = () => { TABLE.get(of(home, "a")).status = "DONE"; };
const Told = {};
for (const [name, happens] of Object.entries(stories)) {
  TABLE.clear();
  const items = [stored("a", "old")];
  BEFORE.push(happens);
  await shards.copy(items, (item) => item.at, 1e6);
  await shards.copy(items, (item) => item.at, 1e6);
  Told[name] = [...(await shards.readAll()).map((item) => item.v), TABLE.size];
  if (mode === "index" && name === "put" && TABLE.get(of("1", "a")).status_shard !== shards.name(shards.shardOf("b"))) throw new Error("its shard was changed");
}
let Both = [];
if (mode === "moves") {
  TABLE.clear();
  stored("a", "old");
  await shards.put("a", { at: "a", v: "newer" });
  const b = stored("b", "old");
  QUERIED.push(() => shards.move("b", b));
  Both = (await shards.readAll()).map((item) => item.v);
  Both.push(...(await shards.readAll(false)).map((item) => item.v));
}
console.log(JSON.stringify({ Names: Array.from({ length: shards.SHARDS }, (_, n) => shards.name(n)), Chosen: ids.map(shards.shardOf), Read, Told, Both, Keys }));
`

const nodeCounter = `
import { TABLE } from "@aws-sdk/lib-dynamodb";
import * as shards from "./shards.mjs";
TABLE.set(JSON.stringify([shards.OLD, "s"]), { id: shards.OLD, at: "s", value: 1200 });
for (let i = 0; i < 300; i++) await shards.add("s", 2);
const Keys = [...new Set([...TABLE.values()].map((item) => item.id))];
console.log(JSON.stringify({ Names: Array.from({ length: shards.SHARDS }, (_, n) => shards.name(n)), Total: await shards.total("s"), Keys }));
`

var nodeFakes = map[string]string{
	"node_modules/@aws-sdk/client-dynamodb/package.json": `{"name": "@aws-sdk/client-dynamodb", "type": "module", "main": "index.js"}`,
	"node_modules/@aws-sdk/client-dynamodb/index.js":     "export class DynamoDBClient {}\n",
	"node_modules/@aws-sdk/lib-dynamodb/package.json":    `{"name": "@aws-sdk/lib-dynamodb", "type": "module", "main": "index.js"}`,
	"node_modules/@aws-sdk/lib-dynamodb/index.js": `
export const TABLE = new Map();
const of = (key) => JSON.stringify([key.id, key.at]);
const known = (name) => { if (name !== "orders") throw new Error("table " + name); };
export const BEFORE = []; // what happens before the next conditional write
export const QUERIED = []; // and after the next page
const happens = async () => (BEFORE.length > 0 ? await BEFORE.pop()() : undefined);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const holds = (stored, input) => input.ConditionExpression.split(" AND ").every((clause) => {
  const [, what, name] = /^(attribute_(?:not_)?exists)\((.*)\)$/.exec(clause) ?? [];
  if (what) return (input.ExpressionAttributeNames[name] in (stored ?? {})) === (what === "attribute_exists");
  const [left, right] = clause.split(" = ");
  return stored !== undefined && same(stored[input.ExpressionAttributeNames[left]], input.ExpressionAttributeValues[right]);
});
const failed = (name, CancellationReasons) => Object.assign(new Error(), { name, CancellationReasons });
export class PutCommand {
  constructor(input) { this.run = () => {
    known(input.TableName);
    TABLE.set(of(input.Item), input.Item);
  }; }
}
export class DeleteCommand {
  constructor(input) { this.run = () => {
    known(input.TableName);
    TABLE.delete(of(input.Key));
  }; }
}
export class GetCommand {
  constructor(input) { this.run = () => {
    known(input.TableName);
    if (!input.ConsistentRead) throw new Error("an eventual read");
    const item = TABLE.get(of(input.Key));
    return { Item: item && { ...item } };
  }; }
}
export class TransactWriteCommand {
  constructor(input) { this.run = async () => {
    let why = [{ Code: "TransactionConflict" }, { Code: "None" }];
    if ((await happens()) !== "conflict") {
      why = input.TransactItems.map((action) => {
        const [part] = Object.values(action);
        known(part.TableName);
        return { Code: holds(TABLE.get(of(part.Key ?? part.Item)), part) ? "None" : "ConditionalCheckFailed" };
      });
    }
    if (why.some((reason) => reason.Code !== "None")) throw failed("TransactionCanceledException", why);
    for (const action of input.TransactItems) {
      if (action.Delete) TABLE.delete(of(action.Delete.Key));
      else if (action.Put) TABLE.set(of(action.Put.Item), action.Put.Item);
      else if (!action.ConditionCheck) throw new Error("an unknown action");
    }
  }; }
}
export class QueryCommand {
  constructor(input) { this.run = async () => {
    known(input.TableName);
    const items = [...TABLE.values()].filter((item) => item[input.ExpressionAttributeNames["#pk"]] === input.ExpressionAttributeValues[":pk"]);
    items.sort((a, b) => (a.at < b.at ? -1 : 1));
    const first = input.ExclusiveStartKey?.first ?? 0;
    const page = { Items: items.slice(first, first + 3), LastEvaluatedKey: first + 3 < items.length ? { first: first + 3 } : undefined };
    if (QUERIED.length > 0) await QUERIED.pop()();
    return page;
  }; }
}
export class UpdateCommand {
  constructor(input) { this.run = async () => {
    known(input.TableName);
    if (input.ConditionExpression) {
      if (input.UpdateExpression !== "SET #pk = :shard") throw new Error(input.UpdateExpression);
      if ((await happens()) === "conflict" || !holds(TABLE.get(of(input.Key)), input)) throw failed("ConditionalCheckFailedException");
      TABLE.get(of(input.Key))[input.ExpressionAttributeNames["#pk"]] = input.ExpressionAttributeValues[":shard"];
      return;
    }
    const item = TABLE.get(of(input.Key)) ?? { ...input.Key }, name = input.ExpressionAttributeNames["#v"];
    item[name] = (item[name] ?? 0) + input.ExpressionAttributeValues[":n"];
    TABLE.set(of(input.Key), item);
  }; }
}
export class BatchGetCommand {
  constructor(input) { this.run = () => {
    const keys = input.RequestItems.orders.Keys;
    if (keys.length > 100) throw new Error("too many keys");
    return {
      Responses: { orders: keys.slice(0, 7).map((key) => TABLE.get(of(key))).filter((item) => item) },
      UnprocessedKeys: keys.length > 7 ? { orders: { Keys: keys.slice(7) } } : {},
    };
  }; }
}
export const DynamoDBDocumentClient = { from: () => ({ send: async (command) => command.run() }) };
`,
}
