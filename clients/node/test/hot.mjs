// A program whose queries of a global index hit one key, for clients/conformance:
//
//   hot.mjs ENDPOINT SECONDS    writes its samples to standard output
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { instrument, lines } from "../src/index.js";

const [endpoint, seconds] = process.argv.slice(2);
const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const client = new DynamoDBClient({ region: "eu-west-1", endpoint, credentials });
const tables = { orders: { partition: "pk", sort: "sk", indexes: { "by-status": { partition: "status" } } } };
const sampler = instrument(client, { sink: lines(process.stdout), tables, askCapacity: true, caller: "checkout" });
const document = DynamoDBDocumentClient.from(client);
const query = (status) =>
  document.send(new QueryCommand({
    TableName: "orders", IndexName: "by-status", KeyConditionExpression: "#s = :s",
    ExpressionAttributeNames: { "#s": "status" }, ExpressionAttributeValues: { ":s": status },
  }));

const end = Date.now() + 1000 * Number(seconds);
while (Date.now() < end) {
  await Promise.all([query("open"), query("open"), query("open"), query(`closed#${Date.now() % 100}`)]);
  await sleep(50);
}
await sampler.close();
client.destroy();
