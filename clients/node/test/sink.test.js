import assert from "node:assert/strict";
import { test } from "node:test";
import { http } from "../src/index.js";
import { serve } from "./door.js";

const TEXT = '{"ts":1763692032000,"table":"orders","pk":"user#1","op":"GetItem","n":3,"calls":3}\n';
const { signal } = new AbortController();
const ok = [200, {}, "{}"];

test("a batch keeps its number until it is stored", async (t) => {
  const door = await serve(t, (n) => [undefined, [503, { "Retry-After": "0" }, "busy"], ok, ok][n - 1]);
  const errors = [];
  const sink = http(door.url, { onError: ({ message }) => errors.push(message) });
  await sink(TEXT, undefined, signal);
  await sink(TEXT, undefined, signal);
  const batches = door.batches();
  assert.deepEqual(batches.map(({ sequence }) => sequence), ["1", "1", "1", "2"]);
  assert.equal(new Set(batches.map(({ producer }) => producer)).size, 1);
  assert.deepEqual(batches[3].samples, [JSON.parse(TEXT)]);
  assert.equal(errors.length, 2);
  assert.match(errors[1], /503 busy/);
});

test("a lost count is another producer", async (t) => {
  const door = await serve(t, (n) => (n === 2 ? [409, {}, ""] : ok));
  const sink = http(door.url);
  await sink(TEXT, undefined, signal);
  await sink(TEXT, undefined, signal);
  const [first, refused, again] = door.batches();
  assert.deepEqual([refused.producer, refused.sequence, again.sequence], [first.producer, "2", "1"]);
  assert.notEqual(again.producer, first.producer);
});

test("a refused batch is not sent again, its number is the next batch's, and a loss is reported", async (t) => {
  const door = await serve(t, (n) => (n === 1 ? [400, {}, "what"] : ok));
  const sink = http(door.url);
  await assert.rejects(sink(TEXT, undefined, signal), /400 what/);
  await sink(TEXT, { n: 5, since: 1763692031000, until: 1763692032000 }, signal);
  assert.deepEqual(door.batches().map(({ sequence }) => sequence), ["1", "1"]);
  assert.deepEqual(door.batches().map(({ dropped }) => dropped), [undefined, "5 1763692031000 1763692032000"]);
});

test("a batch ends with its time, and its number is not used again", async (t) => {
  const door = await serve(t, (n) => (n <= 2 ? [503, {}, ""] : ok));
  const sink = http(door.url, { retryFor: 1 });
  await assert.rejects(sink(TEXT, undefined, signal), /503/);
  await sink(TEXT, undefined, signal);
  const batches = door.batches();
  assert.equal(batches.length, 3);
  assert.equal(batches[1].producer, batches[0].producer);
  assert.notEqual(batches[2].producer, batches[0].producer);
  assert.equal(batches[2].sequence, "1");
});

test("a process that was frozen for longer than its time sends the batch once more", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_763_692_032_185 });
  const door = await serve(t, (n) => {
    t.mock.timers.setTime(1_763_692_032_185 + 400_000); // while the first attempt waits
    return n === 1 ? undefined : ok;
  });
  await http(door.url)(TEXT, undefined, signal);
  assert.deepEqual(door.batches().map(({ sequence }) => sequence), ["1", "1"]);
});

test("an abort ends a write soon", async (t) => {
  const abort = new AbortController();
  const door = await serve(t, () => [503, { "Retry-After": "60" }, ""]);
  const sink = http(door.url, { onError: () => setImmediate(() => abort.abort()) });
  await assert.rejects(sink(TEXT, undefined, abort.signal), /keyheat/);
});

test("a URL has a user and a path", async (t) => {
  const door = await serve(t);
  await http(door.url.replace("//", "//orders:pass%3Aword@") + "/keyheat/")(TEXT, undefined, signal);
  assert.equal(door.requests[0].headers.authorization, "Basic b3JkZXJzOnBhc3M6d29yZA==");
  assert.equal(door.requests[0].path, "/keyheat/v1/samples");
  assert.throws(() => http("ftp://collector"), TypeError);
});

test("a function is short-lived", async (t) => {
  const door = await serve(t);
  await http(door.url)(TEXT, undefined, signal);
  await http(door.url, { shortLived: true })(TEXT, undefined, signal);
  process.env.AWS_LAMBDA_FUNCTION_NAME = "orders";
  t.after(() => delete process.env.AWS_LAMBDA_FUNCTION_NAME);
  await http(door.url)(TEXT, undefined, signal);
  await http(door.url, { shortLived: false })(TEXT, undefined, signal);
  const lives = door.requests.map(({ headers }) => headers["keyheat-producer-life"]);
  assert.deepEqual(lives, [undefined, "short", "short", undefined]);
});
