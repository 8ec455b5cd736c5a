// Where batches go: to collectors over HTTP, or as lines to a stream.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

// Milliseconds. An attempt takes longer than a collector waits for its commit.
const [ATTEMPT_TIMEOUT, FIRST_PAUSE, LONGEST_PAUSE, LONGEST_RETRY_AFTER] = [35_000, 200, 5_000, 60_000];

export const lines = (stream) => (text) =>
  new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));

const isFunction = () => "AWS_LAMBDA_FUNCTION_NAME" in process.env;

/** A batch keeps its number until a collector has stored it, so that it counts once. */
export function http(collector = "http://127.0.0.1:9461", options = {}) {
  const { retryFor = 300_000, fetch = globalThis.fetch, onError, shortLived = isFunction() } = options;
  const { protocol, username, password, host, pathname } = new URL(collector);
  if (!/^https?:$/.test(protocol)) throw new TypeError("keyheat: a collector's URL begins with http:// or https://");
  const url = `${protocol}//${host}${pathname.replace(/\/$/, "")}/v1/samples`;
  const user = Buffer.from(decodeURIComponent(`${username}:${password}`)).toString("base64");
  const authorization = username ? { Authorization: `Basic ${user}` } : {};
  const common = { "Content-Type": "application/x-ndjson", "Content-Encoding": "gzip", ...authorization };
  if (shortLived) common["Keyheat-Producer-Life"] = "short";
  let [producer, sequence] = [randomUUID(), 1];

  async function post(headers, body, signal) {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_TIMEOUT)]);
    try {
      const response = await fetch(url, { method: "POST", headers, body, signal: ends });
      const message = await response.text();
      return { status: response.status, message, after: 1000 * Number(response.headers.get("Retry-After")) || 0 };
    } catch (error) { // a broken connection: perhaps the batch is stored
      return { status: 0, message: String(error.cause ?? error), after: 0 };
    }
  }

  return async (text, lost, signal) => {
    const body = await promisify(gzip)(text);
    const deadline = Date.now() + retryFor;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const headers = { ...common, "Keyheat-Producer": producer, "Keyheat-Sequence": String(sequence) };
      if (lost) headers["Keyheat-Dropped"] = `${lost.n} ${lost.since} ${lost.until}`;
      const isLast = Date.now() >= deadline; // before the attempt, because the process may be frozen in it
      const { status, message, after } = await post(headers, body, signal);
      if (status === 200) break;
      const error = new Error(`keyheat: ${url}: ${status} ${message.slice(0, 1000).trim()}`);
      onError?.(error);
      const isOver = isLast || signal.aborted;
      if (isOver || status === 409) [producer, sequence] = [randomUUID(), 1]; // this number may be stored already
      if (isOver || [400, 413, 415].includes(status)) throw error;
      const wait = Math.min(Math.max(pause, Math.min(after, LONGEST_RETRY_AFTER)), Math.max(0, deadline - Date.now()));
      await sleep(wait, undefined, { ref: false, signal }).catch(() => undefined);
    }
    sequence++;
  };
}
