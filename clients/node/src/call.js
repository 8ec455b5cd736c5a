// The end of a sampled request, and the records that follow from its attempts.
import { estimate, indexKey, OPERATIONS, readAccesses, tableName } from "./access.js";
import { chargedBytes, hide, price, sum } from "./item.js";

const [CONDITION, CONFLICT, THROTTLED] = ["ConditionalCheckFailed", "TransactionConflict", "throttled"];
const [CANCELLED, PREPARED] = ["TransactionCanceledException", "None"];
const THROTTLES = ["ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded"];

/** Returns how DynamoDB ended a request or an item, by an error's code: undefined for other errors. */
function endOf(code = "") {
  const short = code.replace(/Exception$/, "");
  return THROTTLES.includes(short) ? THROTTLED : [CONDITION, CONFLICT, PREPARED].find((end) => end === short);
}

/** Returns how an attempt ended for the access i of its request, and DynamoDB's reason if it was throttled. */
function reasonOf(error, i, access) {
  const { Code = error.name, Item } = error.CancellationReasons?.[i] ?? error;
  const reasons = error.ThrottlingReasons ?? error.throttlingReasons ?? [];
  // A hot partition counts among several reasons, because the others would hide it.
  const { reason, resource } = reasons.find((one) => one.reason?.includes("KeyRange")) ?? reasons[0] ?? {};
  const [end, table, index] = [endOf(Code), tableName(resource), resource?.split("/index/")[1]];
  if (table && table !== access.table && access.transactional) return {}; // another table refused it
  return { end, Item, table, index, throttle: end === THROTTLED ? reason || Code : undefined };
}

const milli = ({ CapacityUnits: units = 0 }) => Math.round(units * 1000);

export class Ending {
  cells = [];
  counts = { unknownKeys: 0, notReadable: 0, unknownIndexKeys: 0, failed: 0, throttledAttempts: 0 };

  constructor(call, schemas, options) {
    Object.assign(this, { call, schemas, options });
  }

  observe(error) {
    const { op, input, output = {}, errors, attempts } = this.call;
    const accesses = input ? readAccesses(op, input, error ? {} : output, this.schemas) : []; // if it was sent
    if (op !== "Scan") this.counts.notReadable = accesses.filter(({ unreadable }) => unreadable).length;
    const isKnown = !error || endOf(error.name) || error.name === CANCELLED;
    const last = isKnown ? error : errors.findLast(({ name }) => endOf(name) === THROTTLED) ?? error; // it gave up
    for (const earlier of errors.filter((one) => one !== last)) this.#observeAttempt(earlier, accesses, false);
    Object.assign(this, { attempts: attempts || undefined, hasFailed: Boolean(error) });
    if (error) this.#observeAttempt(last, accesses, true);
    else this.#recordDone(accesses, [output.ConsumedCapacity ?? []].flat());
  }

  /** Records the last attempt with the requested load. A throttled one before it is a record without units. */
  #observeAttempt(error, accesses, isLast) {
    const reasons = accesses.map((access, i) => reasonOf(error, i, access));
    this.counts.throttledAttempts += reasons.some(({ throttle }) => throttle);
    const isKnown = reasons.some(({ end }) => end);
    this.counts.failed += isLast && !isKnown;
    for (const [i, access] of isKnown ? accesses.entries() : []) {
      if (isLast && this.#settle(access, reasons[i], error.name === CANCELLED)) this.#record(access, reasons[i], true);
      if (isLast) continue;
      const refused = { ...access, units: 0, throttle: reasons[i].throttle, lost: [] };
      access.lost.push(reasons[i].end);
      if (refused.throttle && access.pk !== undefined) this.#record(refused, reasons[i], false);
    }
  }

  #recordDone(accesses, reported) {
    const isKnown = (access) => !access.error || this.#settle(access, reasonOf(access.error, 0, access), false);
    const done = accesses.filter(isKnown);
    const isByStatement = reported.length === done.length && OPERATIONS[this.call.op].statement;
    if (isByStatement) done.forEach((access, i) => this.#charge([access], [reported[i]]));
    else this.#charge(done, reported);
  }

  // Prices an access by its end, and returns whether its cost is known. An item of a cancelled transaction without an
  // error, or with a failed condition, was prepared and never committed: half of a transaction's price.
  #settle(access, { end, Item, throttle }, isCancelled) {
    if (Item) estimate(Object.assign(access, { before: Item }));
    if (end === CONFLICT) access.units = 0; // unknown
    else if (isCancelled && end !== THROTTLED) access.units /= 2;
    Object.assign(access, { throttle, end, lost: [...access.lost, end] });
    this.counts.failed += !end;
    return Boolean(end);
  }

  /** Records an access. What an index throttled is demand on the index's key, too. */
  #record(access, { table, index }, estimated) {
    this.#emit(access, estimated);
    if (!index || index === access.index || table !== access.table) return;
    const key = [access.after, access.before].map((item) => indexKey(item, this.schemas(table), index)).find(Boolean);
    if (key) this.#emit({ ...access, ...key, index, lost: [] }, estimated);
    else this.counts.unknownIndexKeys++;
  }

  /** Records accesses with the units that DynamoDB reported, or with their estimates. */
  #charge(accesses, reported) {
    for (const table of new Set(accesses.map((access) => access.table))) {
      const reports = reported.filter(({ TableName }) => tableName(TableName) === table);
      const own = accesses.filter((access) => access.table === table);
      for (const access of own) if (access.throttle || !reports.length) this.#emit(access, true);
      if (reports.length) this.#chargeTable(own.filter(({ throttle }) => !throttle), reports, this.schemas(table));
    }
  }

  #chargeTable(accesses, reports, schema) {
    const parts = reports.flatMap(({ Table, GlobalSecondaryIndexes = {}, LocalSecondaryIndexes = {} }) => {
      const base = Table ? [Table, ...Object.values(LocalSecondaryIndexes)].map((part) => ["", part]) : [];
      return [...base, ...Object.entries(GlobalSecondaryIndexes)]; // "" is the table with its local indexes
    });
    if (!parts.length) { // a report of TOTAL, which of a write may include global indexes
      const mayHide = accesses[0]?.write && (!schema || Object.values(schema.indexes).some(({ local }) => !local));
      this.#split(accesses, sum(reports, milli), mayHide);
    }
    const names = parts.length ? [...parts.map(([name]) => name), ...accesses.map(({ index }) => index ?? "")] : [];
    for (const index of new Set(names)) {
      const units = sum(parts, ([name, part]) => (name === index ? milli(part) : 0));
      const read = accesses.filter((access) => (access.index ?? "") === index);
      const isWritten = index !== "" && !read.length && units > 0;
      const charged = isWritten ? accesses.flatMap((access) => this.#entries(access, index, schema)) : read;
      this.counts.unknownIndexKeys += isWritten && !charged.length;
      this.#split(charged, units, false);
    }
  }

  /** Returns the entries of an index that a write changed: an entry that moved is two. */
  #entries({ table, before, after }, index, schema) {
    const keys = [before, after].map((item) => indexKey(item, schema, index));
    if (JSON.stringify(keys[0]) === JSON.stringify(keys[1])) keys.pop();
    const entry = { table, index, write: true, bytes: 0, lost: [] };
    return keys.filter(Boolean).map((key) => ({ ...entry, ...key, units: price(entry) }));
  }

  /** Splits the total by the estimates. If they do not add up to it, the split is a guess. */
  #split(accesses, total, guessed) {
    const weight = sum(accesses, ({ units }) => units);
    let [upTo, given] = [0, 0];
    for (const access of accesses) {
      upTo += access.units;
      const units = (weight ? Math.floor((total * upTo) / weight) : total) - given;
      given += units;
      this.#emit({ ...access, units, bytes: 0 }, guessed || (accesses.length > 1 && weight !== total));
    }
  }

  #emit(access, estimated) {
    const { op, rate, time: ts } = this.call;
    const { caller, region, hmacKey } = this.options;
    const { table, index, write, throttle, units, end, lost } = access;
    const [conflicts, conditions] = [CONFLICT, CONDITION].map((each) => lost.filter((one) => one === each).length);
    if (access.pk === undefined && op !== "Scan") {
      this.counts.unknownKeys += !access.unreadable;
      return;
    }
    const [pk, sk] = [access.pk, access.sk].map((key) => (hmacKey ? hide(hmacKey, key) : key));
    const record = { ts, table, index, pk, sk, op, throttle, caller, region, attempts: this.attempts };
    const { statement, transactional } = OPERATIONS[op];
    const isUsual = !statement && estimated && units === price({ ...access, transactional });
    if (!isUsual) record[write || (statement && !units) ? "wcu" : "rcu"] = units / 1000;
    record.bytes = (estimated && chargedBytes(access)) || undefined;
    record.read = write || access.read === "eventual" ? undefined : access.read;
    record.rate = rate === 1 ? undefined : rate;
    const isGivenUp = throttle || (end !== PREPARED && conflicts + conditions > 1);
    record.failed = this.hasFailed && isGivenUp ? true : undefined;
    const key = JSON.stringify([table, index, pk, write && units > 0, !units]);
    this.cells.push({ record, conflicts, conditions, key });
  }

  /** Returns the records, each with the number of the request's items on its key. */
  taken() {
    const alike = ({ key }) => this.cells.filter((other) => other.key === key).length;
    return this.cells.map((cell) => ({ ...cell, together: alike(cell) }));
  }
}
