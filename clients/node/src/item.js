// Keys, sizes and prices of items in DynamoDB's JSON.
import { createHmac } from "node:crypto";

const NUMBER = /^([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$/;
const MAX_HIDDEN = 16; // components of a key that are hashed apart: the rest is one more

/** Splits a number into its sign, its significant digits, and its first digit's power of ten. */
function decimal(text) {
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign, whole, fraction, exponent = "0"] = match;
  const digits = (whole + fraction).replace(/^0+/, "");
  const zeros = whole.length + fraction.length - digits.length;
  return { sign, digits: digits.replace(/0+$/, ""), magnitude: whole.length - 1 - zeros + Number(exponent) };
}

/** Returns a number as DynamoDB writes it and within its limits, so that 42, 42.0 and 4.2e1 are one key. */
export function canonicalNumber(text) {
  const { sign, digits, magnitude } = decimal(text) ?? {};
  if (!digits) return digits === "" ? "0" : undefined;
  if (digits.length > 38 || magnitude < -130 || magnitude > 125) return undefined;
  const whole = magnitude < 0 ? "0" : digits.slice(0, magnitude + 1).padEnd(magnitude + 1, "0");
  const fraction = magnitude < 0 ? digits.padStart(digits.length - magnitude - 1, "0") : digits.slice(magnitude + 1);
  return sign.replace("+", "") + whole + (fraction && "." + fraction);
}

/** Returns the key of an attribute's value, as in Keyheat JSON: a string as it is, other types with their letter. */
export function attributeKey(value) {
  if (value?.S) return value.S;
  const N = value?.N === undefined ? undefined : canonicalNumber(value.N);
  if (N) return { N };
  return value?.B?.length ? { B: Buffer.from(value.B).toString("base64") } : undefined;
}

export function keyOf(item, names = []) {
  const parts = item ? names.map((name) => attributeKey(item[name])) : [];
  if (!parts.length || parts.includes(undefined)) return undefined;
  return parts.length === 1 ? parts[0] : parts;
}

/** Replaces each attribute of a key, and each part of a string between "#", by its keyed hash. */
export function hide(secret, key) {
  if (Array.isArray(key)) return key.map((part) => hide(secret, part));
  const hash = (text) => "~" + createHmac("sha256", secret).update(text).digest().subarray(0, 16).toString("base64url");
  if (typeof key !== "string") return key && hash(Object.entries(key)[0].join(""));
  const parts = key.split("#");
  if (parts.length > MAX_HIDDEN) parts.push(parts.splice(MAX_HIDDEN - 1).join("#"));
  return parts.map((part) => hash("S" + part)).join("#");
}

export const sum = (values, size) => values.reduce((total, value) => total + size(value), 0);
const numberSize = (text) => Math.ceil((decimal(text)?.digits.length ?? 1) / 2) + 1;

/** Returns an item's size as DynamoDB charges it ("DynamoDB item sizes and formats"). */
export function itemSize(item = {}) {
  return sum(Object.entries(item), ([name, value]) => Buffer.byteLength(name) + valueSize(value));
}

function valueSize(value) {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B) return value.B.length;
  if (value.L) return 3 + sum(value.L, (element) => 1 + valueSize(element));
  if (value.M) return 3 + Object.keys(value.M).length + itemSize(value.M);
  if (value.SS) return sum(value.SS, (one) => Buffer.byteLength(one));
  if (value.NS) return sum(value.NS, numberSize);
  return value.BS ? sum(value.BS, (one) => one.length) : 1; // BOOL and NULL
}

// The price of a block of a read in thousandths of a unit ("DynamoDB read and write operations").
const READ_PRICE = { eventual: 500, strong: 1000, transactional: 2000 };
const blockOf = ({ write }) => (write ? 1024 : 4096);

/** Returns the size of an access in whole charged blocks, so that requests of equal price fold. */
export const chargedBytes = (access) => Math.ceil(access.bytes / blockOf(access)) * blockOf(access);

/** Returns the price of an access in thousandths. An unknown size costs the minimum. */
export function price(access) {
  const block = access.write ? (access.transactional ? 2000 : 1000) : READ_PRICE[access.read];
  return Math.max(1, Math.ceil(access.bytes / blockOf(access))) * block;
}
