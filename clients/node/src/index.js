// Samples a program's own DynamoDB requests, for Keyheat to find hot keys in them. index.d.ts describes its parts.
import { OPERATIONS } from "./access.js";
import { Ending } from "./call.js";
import { Fold } from "./fold.js";
import { http, lines } from "./sink.js";

export { Sharding } from "./shardkey.js";
export { http, lines };

const CALL = Symbol("keyheat");
const COUNTS = ["requests", "kept", "throttledAttempts", "records", "sent", "dropped", "unknownKeys", "notReadable"];
COUNTS.push("unknownIndexKeys", "failed", "sinkErrors", "panics");

export function instrument(clients, options) {
  const sampler = new Sampler(options);
  for (const client of [clients].flat()) sampler.instrument(client);
  return sampler;
}

/** Samples the requests of clients. It never delays a request, and never throws into it. */
class Sampler {
  #sending = Promise.resolve();
  #abort = new AbortController();
  #stats = Object.fromEntries(COUNTS.map((name) => [name, 0]));

  constructor({ sink = http(), tables = {}, rate = 1, maxPending = 10_000, ...options } = {}) {
    if (rate !== 0 && !(rate >= 1e-9 && rate <= 1)) throw new RangeError("keyheat: give a rate from 0 to 1");
    if (options.hmacKey?.length < 16) throw new RangeError("keyheat: give hmacKey at least 16 bytes");
    const { indexes: schemas } = schemaOf({ indexes: tables });
    Object.assign(this, { sink, rate, options, schemas, fold: new Fold(maxPending, this.#stats) });
  }

  instrument(client) {
    const stack = client.middlewareStack;
    let region;
    Promise.resolve(client.config.region?.()).then((name) => (region = name), () => undefined);
    const around = (next, { commandName = "" }) => async (args) => {
      const call = this.#begin(commandName.replace(/Command$/, ""), args.input ?? {});
      if (!call) return next(args);
      const input = call.asks ? { ...args.input, ReturnConsumedCapacity: "INDEXES" } : args.input;
      try {
        const result = await next({ ...args, input, [CALL]: call });
        this.#end(call, region);
        if (call.asks) delete result?.output?.ConsumedCapacity;
        return result;
      } catch (error) {
        this.#end(call, region, error);
        throw error;
      }
    };
    stack.add(around, { name: "keyheat", step: "initialize", override: true });
    // Commands of a document client put their own DocumentUnmarshall in place of this one: inside of it, requests and
    // responses are in DynamoDB's JSON.
    const deserializer = { toMiddleware: "deserializerMiddleware", relation: "before", override: true };
    stack.addRelativeTo((next) => next, { name: "DocumentUnmarshall", ...deserializer });
    const inside = { toMiddleware: "DocumentUnmarshall", relation: "after", override: true };
    stack.addRelativeTo((next) => (args) => attempt(next, args), { name: "keyheatAttempt", ...inside });
  }

  stats() {
    return { ...this.#stats };
  }

  /** Sends what is pending, and returns whether all of it is stored in time. What is not is sent later. */
  async flush(timeout = 5_000) {
    const { dropped } = this.#stats;
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, timeout, true)));
    const isLate = await Promise.race([this.#send(), late]);
    clearTimeout(timer);
    return !isLate && this.#stats.dropped === dropped;
  }

  async close(timeout = 10_000) {
    this.fold.isClosed = true;
    const isStored = await this.flush(timeout);
    this.#abort.abort();
    return isStored;
  }

  #begin(op, { ReturnConsumedCapacity: asked = "NONE", ClientRequestToken: token }) {
    const { rate, options } = this;
    if (!OPERATIONS[op] || this.fold.isClosed) return undefined;
    this.#stats.requests++;
    if (Math.random() >= rate) return undefined;
    this.#stats.kept++;
    const asks = options.askCapacity && asked === "NONE" && !token; // a token allows no other parameters than before
    return { op, rate, asks, time: Math.floor(Date.now() / 1000) * 1000, attempts: 0, errors: [] };
  }

  #end(call, region, error) {
    try {
      const ending = new Ending(call, (table) => this.schemas[table], { ...this.options, region });
      ending.observe(error);
      const waited = call.firstFailed ? Math.round(performance.now() - call.firstFailed) : 0;
      for (const cell of ending.taken()) this.fold.add(cell, waited);
      for (const [name, n] of Object.entries(ending.counts)) this.#stats[name] += n;
      this.timer ??= setTimeout(() => this.#send(), 1000 - (Date.now() % 1000)).unref();
    } catch {
      this.#stats.panics++;
    }
  }

  /** Sends what is pending, behind what is being sent. What comes meanwhile is folded for the next second. */
  #send() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.#sending = this.#sending.then(async () => {
      for (let left = this.fold.cells.size; left > 0; ) left -= await this.#write(this.fold.take());
    });
    return this.#sending;
  }

  async #write({ cells, text, lost }) {
    try {
      await this.sink(text, lost, this.#abort.signal);
      for (const { n } of cells) this.#stats.sent += n;
    } catch {
      this.#stats.sinkErrors++;
      if (lost) this.fold.lose(lost); // it is still to be reported
      for (const cell of cells) this.fold.drop(cell);
    }
    return cells.length;
  }
}

function schemaOf({ partition = [], sort = [], indexes = {}, local = false }) {
  const entries = Object.entries(indexes).map(([name, index]) => [name, schemaOf(index)]);
  return { partition: [partition].flat(), sort: [sort].flat(), indexes: Object.fromEntries(entries), local };
}

async function attempt(next, args) {
  const call = args[CALL] ?? { errors: [] };
  Object.assign(call, { input: args.input, attempts: call.attempts + 1 });
  try {
    const result = await next(args);
    call.output = result.output;
    return result;
  } catch (error) {
    call.firstFailed ??= performance.now();
    call.errors.push(error);
    throw error;
  }
}
