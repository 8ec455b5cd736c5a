// A function on a runtime that freezes it after each answer, for clients/conformance:
//
//   function.mjs ENDPOINT COLLECTOR    sends to a collector, or writes lines to standard output if it is "lines"
//
// Each line of standard input is a call that updates five items. The answer is a line on standard error.
import { createInterface } from "node:readline";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { http, instrument, lines } from "../src/index.js";

const [endpoint, collector] = process.argv.slice(2);
const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const client = new DynamoDBClient({ region: "eu-west-1", endpoint, credentials });
const sink = collector === "lines" ? lines(process.stdout) : http(collector);
const sampler = instrument(client, { sink, tables: { orders: { partition: "pk" } }, caller: "function" });

for await (const call of createInterface({ input: process.stdin })) {
  for (let i = 0; i < 5; i++) {
    await client.send(new UpdateItemCommand({ TableName: "orders", Key: { pk: { S: `user#${call}` } } }));
  }
  process.stderr.write((await sampler.flush(30_000)) ? "stored\n" : "pending\n");
}
