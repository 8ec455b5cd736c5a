package recipe_test

// The programs that run the code, and the few lines of DynamoDB that it runs against.

const pythonItems = `
import json
import shards
from boto3 import TABLE
shards.time.sleep = lambda _: None
ids = ["id-%d-ß" % i for i in range(300)]
for i, item_id in enumerate(ids):
    shards.put(item_id, {"at": "%04d" % i, "v": i})
read = [item["at"] for item in shards.read_all()]
keys = sorted({key for key, _ in TABLE})
TABLE.clear()
shards.table.put_item(Item={"id": shards.name(shards.shard_of("a")), "at": "a", "v": "newer"})
shards.copy([{"id": shards.OLD, "at": "a", "v": "old"}, {"id": shards.OLD, "at": "b", "v": "old"}], lambda item: item["at"])
copied = [item["v"] for item in shards.read_all()]
print(json.dumps({"Names": [shards.name(n) for n in range(shards.SHARDS)], "Chosen": [shards.shard_of(i) for i in ids],
                  "Read": read, "Copied": copied, "Keys": keys}))
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

class Table:
    def put_item(self, Item, ConditionExpression=None):
        key = (Item["id"], Item["at"])
        if ConditionExpression is not None and key in TABLE:
            raise ClientError("ConditionalCheckFailedException")
        TABLE[key] = Item

    def query(self, KeyConditionExpression, ExclusiveStartKey=None):
        assert KeyConditionExpression[0] == "id"
        items = sorted((item for (key, _), item in TABLE.items() if key == KeyConditionExpression[1]), key=lambda item: item["at"])
        first = ExclusiveStartKey or 0
        page = {"Items": items[first:first + 3]}
        if first + 3 < len(items):
            page["LastEvaluatedKey"] = first + 3
        return page

    def update_item(self, Key, UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues):
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

class Attr(Key):
    def not_exists(self): return self
`,
	"botocore/__init__.py": "",
	"botocore/exceptions.py": `
class ClientError(Exception):
    def __init__(self, code): self.response = {"Error": {"Code": code}}
`,
}

const nodeItems = `
import { TABLE } from "@aws-sdk/lib-dynamodb";
import * as shards from "./shards.mjs";
const ids = Array.from({ length: 300 }, (_, i) => "id-" + i + "-ß");
for (const [i, id] of ids.entries()) await shards.put(id, { at: String(i).padStart(4, "0"), v: i });
const Read = (await shards.readAll()).map((item) => item.at);
const Keys = [...new Set([...TABLE.values()].map((item) => item.id))];
TABLE.clear();
TABLE.set(JSON.stringify([shards.name(shards.shardOf("a")), "a"]), { id: shards.name(shards.shardOf("a")), at: "a", v: "newer" });
await shards.copy([{ id: shards.OLD, at: "a", v: "old" }, { id: shards.OLD, at: "b", v: "old" }], (item) => item.at, 1e6);
const Copied = (await shards.readAll()).map((item) => item.v);
console.log(JSON.stringify({ Names: Array.from({ length: shards.SHARDS }, (_, n) => shards.name(n)), Chosen: ids.map(shards.shardOf), Read, Copied, Keys }));
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
export class PutCommand {
  constructor(input) { this.run = () => {
    known(input.TableName);
    if (input.ConditionExpression && TABLE.has(of(input.Item))) throw Object.assign(new Error(), { name: "ConditionalCheckFailedException" });
    TABLE.set(of(input.Item), input.Item);
  }; }
}
export class QueryCommand {
  constructor(input) { this.run = () => {
    known(input.TableName);
    const items = [...TABLE.values()].filter((item) => item[input.ExpressionAttributeNames["#pk"]] === input.ExpressionAttributeValues[":pk"]);
    items.sort((a, b) => (a.at < b.at ? -1 : 1));
    const first = input.ExclusiveStartKey?.first ?? 0;
    return { Items: items.slice(first, first + 3), LastEvaluatedKey: first + 3 < items.length ? { first: first + 3 } : undefined };
  }; }
}
export class UpdateCommand {
  constructor(input) { this.run = () => {
    known(input.TableName);
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
