// Samples of a program's own DynamoDB requests, from the AWS SDK for
// JavaScript v3.
//
//   import { Collector, instrument } from "./keyheat.mjs";
//   const collector = new Collector("http://127.0.0.1:9461");
//   instrument(client, { orders: ["pk", "sk"] }, collector.write, 0.01);
//
// Writes one line of Keyheat JSON for each sampled request with one key, to a collector
// or to any function, such as (line) => process.stdout.write(line). The
// second argument names the key attributes by table, and by "orders/by-status" those
// of an index: a write that the index throttled is then demand on its key, too. Sampled
// requests ask for the consumed capacity, without which a load is a lower bound. The
// program does not see it, unless it asked itself. The
// middleware stands outside of the SDK's retries: they are one request, and one that
// was throttled to the end is demand. The record says how many attempts it took, and
// how long the SDK paused between them. Each throttled attempt before the last is a record
// without units.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const READS = new Set(["GetItemCommand"]);
const LOST = { TransactionConflictException: "conflict", ConditionalCheckFailedException: "condition_failed" };
const KEYED = new Set([...READS, "PutItemCommand", "UpdateItemCommand", "DeleteItemCommand"]);

const value = (attribute) =>
  attribute.B ? { B: Buffer.from(attribute.B).toString("base64") } : attribute;

const keys = (names, item) => {
  const known = {};
  ["pk", "sk"].forEach((field, i) => {
    if (names[i] && item[names[i]]) known[field] = value(item[names[i]]);
  });
  return known;
};

export function instrument(client, tables, write, rate = 1) {
  const refused = new WeakMap(); // by the input of a request: the reasons of each throttled attempt
  const throttled = (error) => error?.ThrottlingReasons ?? error?.throttlingReasons ?? [];
  const observe = (command, input, output, error, consumed, earlier) => {
    const names = tables[input.TableName];
    const reasons = throttled(error);
    const lost = LOST[error?.name];
    if (!names || (error && !reasons.length && !lost)) return;
    const item = input.Key ?? input.Item;
    const record = { ts: Date.now(), table: input.TableName, op: command.replace("Command", ""), rate, calls: 1 };
    const unit = READS.has(command) ? "rcu" : "wcu";
    if (input.ConsistentRead) record.read = "strong";
    const put = (record, reasons) => {
      if (reasons.length) record.throttle = reasons[0].reason;
      const line = (fields) => write(JSON.stringify({ ...record, ...fields }) + "\n");
      line(keys(names, item));
      const index = reasons[0]?.resource?.split("/index/")[1];
      const entry = keys(tables[`${input.TableName}/${index}`] ?? [], item);
      if (entry.pk) line({ ...entry, index });
    };
    if (reasons.length) earlier.pop(); // the last attempt
    for (const attempt of earlier) put({ ...record, [unit]: 0 }, attempt);
    if (consumed) {
      const indexes = Object.values(consumed.GlobalSecondaryIndexes ?? {});
      record[unit] = indexes.reduce((rest, i) => rest - i.CapacityUnits, consumed.CapacityUnits);
    }
    const { attempts, totalRetryDelay } = (output ?? error).$metadata ?? {};
    if (attempts) {
      record.attempts = attempts;
      if (totalRetryDelay) record.waited_ms = totalRetryDelay;
      if (reasons.length) record.failed = true;
    }
    if (lost) record[lost] = 1;
    if (lost === "conflict") record[unit] = 0; // what it cost is unknown
    put(record, reasons);
  };
  const attempt = (next) => async (args) => {
    try {
      return await next(args);
    } catch (error) {
      if (throttled(error).length) refused.get(args.input)?.push(throttled(error));
      throw error;
    }
  };
  const step = (next, context) => async (args) => {
    if (!KEYED.has(context.commandName) || Math.random() >= rate) return next(args);
    const asks = !args.input.ReturnConsumedCapacity && args.input.TableName in tables;
    const input = { ...args.input, ...(asks && { ReturnConsumedCapacity: "INDEXES" }) };
    const earlier = [];
    refused.set(input, earlier);
    try {
      const result = await next({ ...args, input });
      const consumed = result.output.ConsumedCapacity;
      if (asks) delete result.output.ConsumedCapacity;
      observe(context.commandName, args.input, result.output, undefined, consumed, earlier);
      return result;
    } catch (error) {
      observe(context.commandName, args.input, undefined, error, undefined, earlier);
      throw error;
    }
  };
  client.middlewareStack.add(step, { step: "initialize", name: "keyheat" });
  client.middlewareStack.add(attempt, { step: "finalizeRequest", priority: "low", name: "keyheatAttempt" });
}

// Sends lines to a Keyheat collector every second. A batch keeps its number until the
// collector has stored it, and so counts once. Lines beyond `most` bytes, and batches that
// are not stored within five minutes, are dropped, and counted in `dropped`. Each failed
// attempt is a warning on the console. The URL may have a user, as in
// https://orders:PASSWORD@collector:9461.
export class Collector {
  dropped = 0;
  #lines = [];
  #bytes = 0;
  #producer = randomUUID();
  #sequence = 1;
  #sending = Promise.resolve();
  #busy = false;

  constructor(url = "http://127.0.0.1:9461", most = 3_000_000) {
    const { username, password, origin, pathname } = new URL(url);
    this.url = origin + pathname.replace(/\/$/, "") + "/v1/samples";
    this.headers = { "Content-Type": "application/x-ndjson" };
    if (username) {
      const user = decodeURIComponent(username) + ":" + decodeURIComponent(password);
      this.headers.Authorization = "Basic " + Buffer.from(user).toString("base64");
    }
    this.most = most;
    this.timer = setInterval(() => this.#flush(), 1000).unref();
  }

  write = (line) => {
    const size = Buffer.byteLength(line);
    if (this.#bytes + size > this.most) {
      this.dropped++;
      return;
    }
    this.#lines.push(line);
    this.#bytes += size;
  };

  // Sends what is left.
  async close() {
    clearInterval(this.timer);
    await this.#sending;
    this.#flush();
    await this.#sending;
  }

  #flush() {
    if (this.#busy || !this.#lines.length) return;
    const lines = this.#lines;
    [this.#lines, this.#bytes, this.#busy] = [[], 0, true];
    this.#sending = this.#send(lines.join("")).then((stored) => {
      this.#busy = false;
      if (!stored) this.dropped += lines.length;
    });
  }

  async #send(body) {
    for (const until = Date.now() + 300_000; Date.now() < until; await sleep(1000)) {
      const headers = {
        ...this.headers,
        "Keyheat-Producer": this.#producer,
        "Keyheat-Sequence": String(this.#sequence),
      };
      try {
        const response = await fetch(this.url, { method: "POST", headers, body, signal: AbortSignal.timeout(35_000) });
        await response.arrayBuffer();
        if (response.ok) {
          this.#sequence++;
          return true;
        }
        console.warn(`keyheat: ${this.url}: ${response.status} ${response.statusText}`);
        if ([400, 413, 415].includes(response.status)) return false;
        if (response.status === 409) [this.#producer, this.#sequence] = [randomUUID(), 1];
      } catch (error) {
        // Perhaps it is stored: the same number again.
        console.warn(`keyheat: ${this.url}: ${error.cause ?? error}`);
      }
    }
    [this.#producer, this.#sequence] = [randomUUID(), 1];
    return false;
  }
}
