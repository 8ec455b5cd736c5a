// Makes the calls of clients/conformance: reads an order a line, writes what it observed.
//
//   conformance.mjs [document]   with a document client, which takes and returns plain values
import { createInterface } from "node:readline";
import * as sdk from "@aws-sdk/client-dynamodb";
import * as lib from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { instrument } from "../src/index.js";

const ATTEMPTS = 3;
const [mode] = process.argv.slice(2);

/** Retries at once after throttling, a server's error, a broken connection, or one of the codes. */
const againAtOnce = (codes) => {
  const token = (count) => ({ getRetryCount: () => count, getRetryDelay: () => 0 });
  return {
    acquireInitialRetryToken: async () => token(0),
    refreshRetryTokenForRetry: async (last, { error, errorType }) => {
      const isAgain = errorType !== "CLIENT_ERROR" || codes.includes(error.name);
      if (!isAgain || last.getRetryCount() === ATTEMPTS - 1) throw new Error("no more attempts");
      return token(last.getRetryCount() + 1);
    },
    recordSuccess: () => undefined,
  };
};

/** Turns binary values from base64 to bytes, as the SDK takes them. */
const parameters = (value) => {
  if (Array.isArray(value)) return value.map(parameters);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, each]) => [name, parameters(each)]);
  if (entries.length === 1 && entries[0][0] === "B") return { B: Buffer.from(entries[0][1], "base64") };
  return Object.fromEntries(entries);
};

const isValue = (value) => {
  const names = value && typeof value === "object" ? Object.keys(value) : [];
  return names.length === 1 && ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"].includes(names[0]);
};

/** Turns DynamoDB's JSON to the plain values of a document client. Numbers keep their digits. */
const plain = (value) => {
  if (isValue(value)) return unmarshall({ value }, { wrapNumbers: (text) => lib.NumberValue.from(text) }).value;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
};

const keys = ({ pk, sk, local, indexes = {} }) => ({
  partition: pk ?? [], sort: sk ?? [], local,
  indexes: Object.fromEntries(Object.entries(indexes).map(([name, index]) => [name, keys(index)])),
});

const DOCUMENT_NAMES = { PutItem: "Put", GetItem: "Get", UpdateItem: "Update", DeleteItem: "Delete", BatchWriteItem: "BatchWrite" };
Object.assign(DOCUMENT_NAMES, { BatchGetItem: "BatchGet", TransactGetItems: "TransactGet", TransactWriteItems: "TransactWrite" });
Object.assign(DOCUMENT_NAMES, { ExecuteTransaction: "ExecuteTransaction", BatchExecuteStatement: "BatchExecuteStatement" });

const command = (op, input) => {
  if (mode !== "document") return new sdk[`${op}Command`](parameters(input));
  return new lib[`${DOCUMENT_NAMES[op] ?? op}Command`](plain(parameters(input)));
};

async function make({ endpoint, tables, op, input, ask, hmac, retry }) {
  const samples = [];
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const client = new sdk.DynamoDBClient({ region: "eu-west-1", endpoint, credentials, retryStrategy: againAtOnce(retry ?? []) });
  const sampler = instrument(client, {
    sink: (text) => samples.push(...text.trim().split("\n").map((line) => JSON.parse(line))),
    caller: "conformance", askCapacity: ask, hmacKey: hmac || undefined,
    tables: Object.fromEntries(Object.entries(tables).map(([name, schema]) => [name, keys(schema)])),
  });
  let [error, output] = ["", {}];
  try {
    output = await (mode === "document" ? lib.DynamoDBDocumentClient.from(client) : client).send(command(op, input));
  } catch (failure) {
    error = failure.name;
  }
  await sampler.close();
  const snake = (name) => name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());
  const stats = Object.fromEntries(Object.entries(sampler.stats()).map(([name, n]) => [snake(name), n]));
  client.destroy();
  return { samples, stats, error, capacity: "ConsumedCapacity" in output };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await make(JSON.parse(line))));
}
