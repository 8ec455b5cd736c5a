// Prints how many requests a second a process made with the sampler, and checks that what did not arrive was reported.
//
//   npm run load [SECONDS]
//
// Requests are answered at once, without a network. Half of them update one of 50,000 items, more than the sampler may
// keep in a second. The collector refuses or cuts off one batch of three.
import assert from "node:assert/strict";
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { http, instrument } from "../src/index.js";
import { dynamodb, serve } from "./door.js";

const cleanups = [];
const door = await serve({ after: (cleanup) => cleanups.push(cleanup) }, (n) => [undefined, [503, {}, ""], [200, {}, "{}"]][n % 3]);
const client = dynamodb();
const sampler = instrument(client, { sink: http(door.url), tables: { orders: { partition: "pk" } }, maxPending: 1000 });
const end = Date.now() + 1000 * Number(process.argv[2] ?? 10);
let sent = 0;
async function program() {
  for (; Date.now() < end; sent++) {
    const pk = { S: sent % 2 ? "hot" : `user#${sent % 100_000}` };
    await client.send(new UpdateItemCommand({ TableName: "orders", Key: { pk } }));
    client.seen.length = 0;
  }
}
const begun = Date.now();
await Promise.all(Array.from({ length: 64 }, program));
const rate = Math.round((1000 * sent) / (Date.now() - begun));
await sampler.close(60_000);
const stats = sampler.stats();
const stored = new Map(); // a batch counts once, however often it was sent
for (const { producer, sequence, samples } of door.batches()) stored.set(`${producer} ${sequence}`, samples);
const arrived = [...stored.values()].flat().reduce((sum, { n = 1 }) => sum + n, 0);
cleanups.forEach((cleanup) => cleanup());
assert.equal(stats.requests, sent);
assert.equal(stats.sent + stats.dropped, sent);
assert.equal(arrived, stats.sent);
assert.ok(stats.dropped > 0, "nothing was dropped: the test is too easy");
console.log(`${rate} requests a second: ${sent} made, ${arrived} arrived, ${stats.dropped} reported as dropped`);
