// A program of an application, for the test of docs/instrumenting.
import {
  DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand, UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";

const { Collector, instrument } = await import(process.argv[2] + "/keyheat.mjs");
const collector = new Collector(process.argv[3]);
const client = new DynamoDBClient({});
instrument(client, { orders: ["pk", "sk"], "orders/by-sk": ["sk", "pk"] }, collector.write);
const TableName = "orders";
const Key = { pk: { S: "user#1" }, sk: { S: "1" } };
const fails = (command) =>
  client.send(command).then(() => { throw new Error("it did not fail"); }, () => {});

await client.send(new PutItemCommand({ TableName, Item: Key, ReturnConsumedCapacity: "TOTAL" }));
const got = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
if (got.ConsumedCapacity) throw new Error("the program gets what it did not ask for");
await fails(new PutItemCommand({ TableName, Item: Key, ConditionExpression: "attribute_not_exists(pk)" }));
await fails(new UpdateItemCommand({ TableName, Key }));
await client.send(new DeleteItemCommand({ TableName, Key }));
await client.send(new PutItemCommand({ TableName, Item: { ...Key, text: { S: "x".repeat(3000) } } }));
await client.send(new ScanCommand({ TableName }));
await collector.close();
process.exitCode = collector.dropped;
