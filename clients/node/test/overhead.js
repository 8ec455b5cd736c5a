// Prints what the sampler adds to a request, in microseconds of the process's processor time.
//
//   npm run overhead [BLOCKS]
//
// Every request is answered at once, without a network. Blocks of requests with and without the sampler take turns,
// either one first, so that a busy machine slows both alike. The figure is the median over pairs of blocks, with the
// half of the pairs around it.
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { instrument } from "../src/index.js";
import { dynamodb } from "./door.js";

const BLOCK = 200;
const OPTIONS = {
  "none kept": { rate: 0 },
  "1%": { rate: 0.01 },
  "100%, folded": {},
  "100%, asking for capacity": { askCapacity: true },
  "100%, hidden keys": { hmacKey: "0123456789abcdef" },
};

async function block(client) {
  const begun = process.cpuUsage();
  for (let i = 0; i < BLOCK; i++) {
    const item = { pk: { S: `user#${i % 16}` }, sk: { N: "7" }, status: { S: "open" }, a: { S: "some text" } };
    await client.send(new PutItemCommand({ TableName: "orders", Item: item }));
  }
  client.seen.length = 0;
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / BLOCK;
}

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(share * values.length)];
const bare = dynamodb();
const blocks = Number(process.argv[2] ?? 100);
for (let i = 0; i < 20; i++) await block(bare);
for (const [name, options] of Object.entries(OPTIONS)) {
  const client = dynamodb();
  const sampler = instrument(client, { sink: () => undefined, tables: { orders: { partition: "pk", sort: "sk" } }, ...options });
  for (let i = 0; i < 20; i++) await block(client);
  const [without, added] = [[], []];
  for (let i = 0; i < blocks; i++) {
    const [one, two, three, four] = [await block(bare), await block(client), await block(client), await block(bare)];
    without.push((one + four) / 2);
    added.push((two + three - one - four) / 2);
  }
  if (!(await sampler.close()) || sampler.stats().panics) throw new Error("the sampler failed");
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(added, share).toFixed(1));
  console.log(`${name}: ${middle} µs added (${low} to ${high}) to ${quantile(without, 0.5).toFixed(0)} µs`);
}
