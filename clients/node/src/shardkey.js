// Spreads one hot partition key over several key shards, with the names of the Go package shardkey.

export class Sharding {
  constructor(shards, { before = "", after = "", prefix = false, alone = false } = { before: "#" }) {
    if (!(shards >= 1 && shards <= 100_000)) throw new RangeError("shardkey: give 1 to 100,000 shards");
    Object.assign(this, { shards, before, after, prefix, alone });
  }

  name(base, shard) {
    if (!base || !(shard >= 0 && shard < this.shards)) throw new RangeError(`shardkey: no shard ${shard} of "${base}"`);
    const number = this.before + shard + this.after;
    if (this.alone) return number;
    return this.prefix ? number + base : base + number;
  }

  pick(base, attribute) {
    if (!attribute) throw new RangeError("shardkey: the attribute is empty: every such item would share a shard");
    return this.name(base, Number((hash(`${base}\0${attribute}`) * BigInt(this.shards)) >> 64n));
  }

  all(base) {
    return Array.from({ length: this.shards }, (_, shard) => this.name(base, shard));
  }

  /** Splits a name of this form: the exact inverse of name. Alone, the base is in the sort key. */
  parse(name) {
    const { before, after, prefix, alone } = this;
    const at = prefix || alone ? name.indexOf(after) : name.lastIndexOf(before);
    const [head, tail] = [name.slice(0, Math.max(at, 0)), name.slice(at + before.length + after.length)];
    const [digits, base] = prefix && !alone ? [head, tail] : [tail, head];
    if (at < 0 || !/^(?:0|[1-9][0-9]{0,4})$/.test(digits) || (!alone && !base)) return undefined;
    return { base, shard: Number(digits) };
  }
}

/** FNV-1a, mixed by MurmurHash3's finalizer. It never changes: stored items depend on it. */
function hash(text) {
  let h = 14695981039346656037n;
  for (const byte of Buffer.from(text)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 1099511628211n);
  h = BigInt.asUintN(64, (h ^ (h >> 33n)) * 0xff51afd7ed558ccdn);
  h = BigInt.asUintN(64, (h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return h ^ (h >> 33n);
}
