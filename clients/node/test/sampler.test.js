import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { BatchExecuteStatementCommand, GetItemCommand, ListTablesCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { instrument, lines } from "../src/index.js";
import { dynamodb, parse } from "./door.js";

const tables = { orders: { partition: "pk", sort: "sk", indexes: { "by-status": { partition: "status" } } } };
const put = (pk, sk = "7") => new PutItemCommand({ TableName: "orders", Item: { pk: { S: pk }, sk: { N: sk } } });
const get = () => new GetItemCommand({ TableName: "orders", Key: { pk: { S: "user#1" }, sk: { N: "7" } } });

function sampled(options = {}, answer) {
  const samples = [];
  const client = dynamodb(answer);
  const sampler = instrument(client, { sink: (text) => samples.push(...parse(text)), tables, ...options });
  return { client, sampler, samples };
}

test("equal requests of one second fold into one record", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_763_692_032_185 });
  const { client, sampler, samples } = sampled({ caller: "web" });
  for (let i = 0; i < 3; i++) await client.send(put("user#1"));
  assert.equal(await sampler.close(), true);
  assert.deepEqual(samples, [{
    ts: 1_763_692_032_000, table: "orders", pk: "user#1", sk: { N: "7" }, op: "PutItem", caller: "web", region: "eu-west-1",
    attempts: 1, bytes: 1024, n: 3, calls: 3,
  }]);
  assert.equal(sampler.stats().panics, 0);
});

test("a program gets the capacity only if it asked, and its input stays as it was", async () => {
  const capacity = { TableName: "orders", CapacityUnits: 1, Table: { CapacityUnits: 1 } };
  const answer = ({ ReturnConsumedCapacity: asked }) => (asked ? { ConsumedCapacity: capacity } : {});
  const { client, sampler, samples } = sampled({ askCapacity: true }, answer);
  const command = Object.freeze(put("user#1").input);
  assert.equal((await client.send(new PutItemCommand(command))).ConsumedCapacity, undefined);
  assert.equal((await client.send(new PutItemCommand({ ...command, ReturnConsumedCapacity: "TOTAL" }))).ConsumedCapacity.CapacityUnits, 1);
  const document = DynamoDBDocumentClient.from(client);
  assert.equal((await document.send(new GetCommand({ TableName: "orders", Key: { pk: "a", sk: 7 } }))).ConsumedCapacity, undefined);
  assert.deepEqual(client.seen.map(({ ReturnConsumedCapacity: asked }) => asked), ["INDEXES", "TOTAL", "INDEXES"]);
  await sampler.close();
  assert.deepEqual(samples.map(({ wcu, rcu }) => wcu ?? rcu ?? "usual"), [1, 1]);
});

test("a document client's items have their sizes and keys", async () => {
  const { client, sampler, samples } = sampled({}, () => ({ Item: { pk: { S: "user#1" }, sk: { N: "7" }, a: { S: "x".repeat(5000) } } }));
  const { Item } = await DynamoDBDocumentClient.from(client).send(new GetCommand({ TableName: "orders", Key: { pk: "user#1", sk: 7 } }));
  assert.equal(Item.sk, 7);
  await sampler.close();
  assert.deepEqual(samples.map(({ pk, sk, bytes }) => ({ pk, sk, bytes })), [{ pk: "user#1", sk: { N: "7" }, bytes: 8192 }]);
});

test("other operations pass by", async () => {
  const { client, sampler } = sampled({}, () => ({ TableNames: [] }));
  await client.send(new ListTablesCommand({}));
  await sampler.close();
  assert.equal(sampler.stats().requests, 0);
});

test("a rate keeps its share, and 0 keeps nothing", async (t) => {
  const chances = [0.1, 0.4, 0.24, 0.26];
  t.mock.method(Math, "random", () => chances.shift() ?? 0.5);
  const { client, sampler, samples } = sampled({ rate: 0.25 });
  for (let i = 0; i < 4; i++) await client.send(put("user#1"));
  await sampler.close();
  assert.deepEqual(samples.map(({ rate, n }) => ({ rate, n })), [{ rate: 0.25, n: 2 }]);
  assert.deepEqual([sampler.stats().requests, sampler.stats().kept], [4, 2]);
  const none = sampled({ rate: 0 });
  await none.client.send(put("user#1"));
  await none.sampler.close();
  assert.deepEqual([none.sampler.stats().requests, none.sampler.stats().kept, none.samples.length], [1, 0, 0]);
});

test("wrong options are refused", () => {
  for (const options of [{ rate: 2 }, { rate: Number.NaN }, { rate: -1 }, { hmacKey: "short" }]) {
    assert.throws(() => instrument([], options), RangeError);
  }
});

test("what is beyond the bound is dropped, and the next batch reports it", async () => {
  const losses = [];
  const { client, sampler } = sampled({ maxPending: 2, sink: (text, lost) => losses.push(lost) });
  for (const pk of ["a", "b", "c", "d", "a"]) await client.send(put(pk));
  assert.equal(await sampler.flush(), true);
  assert.equal(losses.at(-1).n, 2);
  assert.deepEqual([sampler.stats().records, sampler.stats().sent, sampler.stats().dropped], [5, 3, 2]);
});

test("a sink that fails never fails a request, and the loss is reported with the next batch", async () => {
  const losses = [];
  const sink = (text, lost) => {
    losses.push(lost?.n);
    if (losses.length < 3) throw new Error("away");
  };
  const { client, sampler } = sampled({ sink });
  for (let i = 0; i < 3; i++) {
    await client.send(put("user#1"));
    assert.equal(await sampler.flush(), i === 2);
  }
  assert.deepEqual(losses, [undefined, 1, 2]);
  assert.deepEqual([sampler.stats().dropped, sampler.stats().sent, sampler.stats().sinkErrors], [2, 1, 2]);
});

test("a flush does not wait for a sink beyond its time, and what it did not send goes later", async () => {
  let release;
  const sizes = [];
  const sink = async (text) => {
    sizes.push(parse(text).length);
    if (sizes.length === 1) await new Promise((resolve) => (release = resolve));
  };
  const { client, sampler } = sampled({ sink });
  await client.send(put("user#1"));
  assert.equal(await sampler.flush(10), false);
  await client.send(put("user#2"));
  release();
  assert.equal(await sampler.flush(), true);
  assert.deepEqual(sizes, [1, 1]);
});

test("a second's records are sent by themselves, and do not hold the process", async (t) => {
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: 1_763_692_032_185 });
  const { client, samples } = sampled();
  await client.send(put("user#1"));
  t.mock.timers.tick(814);
  await new Promise(setImmediate);
  assert.equal(samples.length, 0);
  t.mock.timers.tick(1);
  await new Promise(setImmediate);
  assert.equal(samples.length, 1);
});

test("after close, requests go on unsampled", async () => {
  const { client, sampler, samples } = sampled();
  await sampler.close();
  await client.send(put("user#1"));
  assert.equal(await sampler.flush(), true);
  assert.deepEqual([samples.length, sampler.stats().requests], [0, 0]);
});

test("a panic inside is counted, and the program gets its response", async () => {
  const { client, sampler } = sampled({ tables: { orders: { get partition() { return [Symbol("no name")]; } } } });
  const query = { TableName: "orders", KeyConditions: { pk: {} }, KeyConditionExpression: 7 };
  client.middlewareStack.add((next) => (args) => next({ ...args, input: get().input }), { step: "serialize", priority: "high" });
  client.middlewareStack.addRelativeTo((next) => (args) => next({ ...args, input: query }), { relation: "before", toMiddleware: "keyheatAttempt" });
  await client.send(get());
  await sampler.close();
  assert.equal(sampler.stats().panics, 1);
});

test("a middleware that answers itself is no attempt", async () => {
  const { client, sampler, samples } = sampled({ askCapacity: true });
  client.middlewareStack.add(() => async () => ({ output: { Item: { pk: { S: "cached" } } } }), { step: "build" });
  assert.deepEqual((await client.send(get())).Item, { pk: { S: "cached" } });
  await sampler.close();
  assert.deepEqual([samples.length, sampler.stats().panics], [0, 0]);
});

test("a request that its program aborts after a throttled attempt was throttled", async () => {
  const throttled = { status: 400, __type: "ThrottlingException", throttlingReasons: [{ reason: "TableReadKeyRangeThroughputExceeded" }] };
  const { client, sampler, samples } = sampled({}, () => throttled);
  const abort = new AbortController();
  const sending = client.send(get(), { abortSignal: abort.signal });
  while (!client.seen.length) await new Promise(setImmediate);
  await new Promise(setImmediate);
  abort.abort();
  await assert.rejects(sending);
  await sampler.close();
  const last = samples.find(({ attempts }) => attempts);
  assert.deepEqual([last.throttle, last.failed], ["TableReadKeyRangeThroughputExceeded", true]);
});

test("a retried request has its attempts and the time that they took", async () => {
  const refused = { status: 400, __type: "ProvisionedThroughputExceededException", ThrottlingReasons: [{ reason: "TableWriteKeyRangeThroughputExceeded" }] };
  const { client, sampler, samples } = sampled({}, (input, n) => (n === 1 ? refused : {}));
  const begun = performance.now();
  await client.send(put("user#1"));
  const took = performance.now() - begun;
  await sampler.close();
  const [first, last] = samples;
  assert.deepEqual([first.throttle, first.wcu, first.attempts], ["TableWriteKeyRangeThroughputExceeded", 0, undefined]);
  assert.equal(last.attempts, 2);
  assert.ok(last.waited_ms > 0 && last.waited_ms <= Math.ceil(took), `waited ${last.waited_ms} of ${took} ms`);
});

test("a statement of a batch whose condition failed is priced by the old item", async () => {
  const error = { Code: "ConditionalCheckFailed", Item: { pk: { S: "user#1" }, sk: { N: "7" }, a: { S: "x".repeat(1500) } } };
  const { client, sampler, samples } = sampled({}, () => ({ Responses: [{ Error: error }] }));
  const Statement = "DELETE FROM orders WHERE pk = 'user#1' AND sk = 7";
  await client.send(new BatchExecuteStatementCommand({ Statements: [{ Statement, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }] }));
  await sampler.close();
  assert.deepEqual(samples.map(({ wcu, condition_failed: failed }) => [wcu, failed]), [[2, 1]]);
});

test("words in a condition are no PartiQL", async () => {
  const { client, sampler, samples } = sampled({}, () => ({ Items: [] }));
  const values = { ":in": { S: "open" }, ":0": { S: "user#1" } };
  const ask = (input) => client.send(new QueryCommand({ TableName: "orders", ExpressionAttributeValues: values, ...input }));
  await ask({ IndexName: "by-status", KeyConditionExpression: "#not=:in", ExpressionAttributeNames: { "#not": "status" } });
  await ask({ KeyConditionExpression: "pk\n=\t:0 and sk between :0 and :0" });
  await sampler.close();
  assert.deepEqual(samples.map(({ pk, sk, index }) => [pk, sk, index]), [["open", undefined, "by-status"], ["user#1", undefined, undefined]]);
});

test("lines go to a stream", async () => {
  const stream = new PassThrough();
  const { client, sampler } = sampled({ sink: lines(stream) });
  await client.send(put("münchen"));
  await sampler.close();
  const [text] = await once(stream, "data");
  assert.equal(parse(text.toString())[0].pk, "münchen");
});

test("10,000 requests a second lose nothing that is not reported", async () => {
  let lost = 0;
  let taken = 0;
  const slow = async (text, report) => {
    lost += report?.n ?? 0;
    for (const { n = 1 } of parse(text)) taken += n;
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const { client, sampler } = sampled({ sink: slow, maxPending: 1000 });
  for (let sent = 0; sent < 10_000; sent += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, i) => client.send(put(`user#${sent + i}`))));
  }
  await sampler.flush(60_000);
  await client.send(put("the last"));
  await sampler.close();
  const stats = sampler.stats();
  assert.equal(stats.kept, 10_001);
  assert.equal(taken + lost, 10_001);
  assert.deepEqual([stats.sent, stats.dropped], [taken, lost]);
  assert.ok(lost > 0 && stats.panics === 0);
});

test("CommonJS can require the package", () => {
  assert.equal(typeof createRequire(import.meta.url)("../src/index.js").instrument, "function");
});
