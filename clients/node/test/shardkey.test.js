import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Sharding } from "../src/index.js";

const { picks, none } = JSON.parse(readFileSync(new URL("../../conformance/shards.json", import.meta.url)));

for (const { form, shards, base, attribute, name, shard } of picks) {
  test(`${name} is the key shard of ${attribute}`, () => {
    const sharding = new Sharding(shards, form);
    assert.equal(sharding.pick(base, attribute), name);
    assert.equal(sharding.name(base, shard), name);
    assert.deepEqual(sharding.parse(name), { base: form.alone ? "" : base, shard });
  });
}

for (const { form, name } of none) {
  test(`${JSON.stringify(name)} is no key shard of the form ${JSON.stringify(form)}`, () => {
    assert.equal(new Sharding(100_000, form).parse(name), undefined);
  });
}

test("all key shards of a base, in order", () => {
  assert.deepEqual(new Sharding(3).all("user#42"), ["user#42#0", "user#42#1", "user#42#2"]);
});

test("what has no shard is refused", () => {
  for (const shards of [0, 100_001, Number.NaN]) assert.throws(() => new Sharding(shards), RangeError);
  assert.throws(() => new Sharding(8).name("user#42", 8), RangeError);
  assert.throws(() => new Sharding(8).name("", 1), RangeError);
  assert.throws(() => new Sharding(8).pick("user#42", ""), RangeError);
});
