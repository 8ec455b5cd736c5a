// A program in TypeScript: npm run types compiles it against the package's declarations.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { http, instrument, lines, Sharding, type Keys, type Stats } from "../index.js";

const client = new DynamoDBClient({});
const orders: Keys = { partition: "pk", sort: ["a", "b"], indexes: { "by-date": { sort: "date", local: true } } };
const sampler = instrument([client, DynamoDBDocumentClient.from(client)], {
  sink: http("http://collector:9461", { onError: ({ message }) => console.warn(message) }), tables: { orders }, rate: 0.1,
});
const isStored: boolean = await sampler.flush(1000);
const stats: Stats = sampler.stats();
const name: string = new Sharding(8, { before: "#SHARD_" }).pick("user#42", "order-1");
instrument(client, { sink: lines(process.stdout) });
instrument(client, { sink: (text) => console.log(text, isStored, stats, name) });
// @ts-expect-error a rate is a number
instrument(client, { rate: "all" });
