import type { Writable } from "node:stream";

/** The names of key attributes. A local index shares the table's partitions, and has `local`. */
export interface Keys {
  partition?: string | string[];
  sort?: string | string[];
  local?: boolean;
  indexes?: Record<string, Keys>;
}

/**
 * Takes lines of Keyheat JSON, one batch at a time. If it rejects, the batch is dropped. `lost` is what was dropped
 * before: the number of requests, and their first and last Unix time in milliseconds. `signal` ends a write soon.
 */
export type Sink = (
  text: string,
  lost: { n: number; since: number; until: number } | undefined,
  signal: AbortSignal,
) => unknown;

export interface Options {
  /** A collector on this machine by default. */
  sink?: Sink;
  /** Key attributes by table. */
  tables?: Record<string, Keys>;
  /** Keeps this share of the requests: 1 by default. */
  rate?: number;
  /** Asks for the consumed units by index, and takes the answer out of the response. */
  askCapacity?: boolean;
  /** The name of this service. */
  caller?: string;
  /** 16 bytes or more: keys leave the process only as keyed hashes. */
  hmacKey?: string | Uint8Array;
  /** The most folded records that wait for the sink: 10,000 by default. */
  maxPending?: number;
}

/** Counts since the start. A folded record counts once for each request. */
export interface Stats {
  /** All requests, and those that were kept. */
  requests: number;
  kept: number;
  /** Of kept requests. */
  throttledAttempts: number;
  /** Records made, taken by the sink, and lost for want of room or by the sink. */
  records: number;
  sent: number;
  dropped: number;
  /** Items whose key attributes are not in `tables`. */
  unknownKeys: number;
  /** Statements and conditions without a readable key. */
  notReadable: number;
  /** Charges to an index whose key nothing shows. */
  unknownIndexKeys: number;
  /** Requests that ended in an error without known or throttled capacity. */
  failed: number;
  sinkErrors: number;
  panics: number;
}

export interface Sampler {
  /** Samples one more client. */
  instrument(client: Client): void;
  stats(): Stats;
  /**
   * Sends what is pending: call it at the end of a function, before the process is frozen. Returns whether all of it is
   * stored within the timeout in milliseconds, 5,000 by default. What is not is sent later.
   */
  flush(timeout?: number): Promise<boolean>;
  /** Sends what is pending within 10,000 ms, and samples no more. Returns whether all of it is stored. */
  close(timeout?: number): Promise<boolean>;
}

/** A DynamoDBClient, a DynamoDBDocumentClient, or one of their kind. */
export interface Client {
  middlewareStack: { add: any; addRelativeTo: any };
  config: any;
}

/** Samples the requests of a client, or of several, also those of their document clients. */
export function instrument(clients: Client | Client[], options?: Options): Sampler;

export interface HTTPOptions {
  /** How long a batch is sent again, in milliseconds: 300,000 by default. */
  retryFor?: number;
  /** Instead of the global one, for client certificates or a proxy. */
  fetch?: typeof fetch;
  /** This process soon ends or freezes: collectors have room for many such. True on AWS Lambda by default. */
  shortLived?: boolean;
  /** Gets the error of each failed attempt. */
  onError?: (error: Error) => void;
}

/** A sink that sends to a collector. The URL may have a user: https://orders:PASSWORD@collector:9461. */
export function http(collector?: string, options?: HTTPOptions): Sink;

/** A sink that writes one record a line to a stream, such as process.stdout. */
export function lines(stream: Writable): Sink;

/**
 * The form of a key shard's name: `before` and `after` surround the number, which is before the base with `prefix`. With
 * `alone` the number is the whole key, and the base in the sort key.
 */
export interface Form {
  before?: string;
  after?: string;
  prefix?: boolean;
  alone?: boolean;
}

/** Spreads one hot partition key over several key shards: user#42 to user#42#0 … user#42#7. */
export class Sharding {
  /** 1 to 100,000 shards, of the form `{ before: "#" }` by default. */
  constructor(shards: number, form?: Form);
  /** Returns the partition key of one shard. Shards count from 0. */
  name(base: string, shard: number): string;
  /** Returns the partition key of an attribute's shard, which is always the same. */
  pick(base: string, attribute: string): string;
  /** Returns the partition keys of all shards of a base, in order. */
  all(base: string): string[];
  /** Splits a name of this form into its base and its shard. */
  parse(name: string): { base: string; shard: number } | undefined;
}
