// Samples of a program's own DynamoDB requests, from the AWS SDK for
// JavaScript v3.
//
//   import { instrument } from "./keyheat.mjs";
//   instrument(client, { orders: ["pk", "sk"] }, (line) => process.stdout.write(line), 0.01);
//
// Writes one line of Keyheat JSON for each sampled request with one key. The
// second argument names the key attributes by table, and by "orders/by-status" those
// of an index: a write that the index throttled is then demand on its key, too. The
// middleware stands outside of the SDK's retries: they are one request, and one that
// was throttled to the end is demand. The record says how many attempts it took, and
// how long the SDK paused between them.

const READS = new Set(["GetItemCommand"]);
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
  const observe = (command, input, output, error) => {
    const names = tables[input.TableName];
    const reasons = error?.ThrottlingReasons ?? error?.throttlingReasons ?? [];
    if (!names || (error && !reasons.length && error.name !== "ConditionalCheckFailedException")) return;
    const item = input.Key ?? input.Item;
    const record = { ts: Date.now(), table: input.TableName, op: command.replace("Command", ""), rate, calls: 1 };
    const units = output?.ConsumedCapacity?.CapacityUnits; // when the program asked for it
    if (units !== undefined) record[READS.has(command) ? "rcu" : "wcu"] = units;
    if (input.ConsistentRead) record.read = "strong";
    if (reasons.length) record.throttle = reasons[0].reason;
    const { attempts, totalRetryDelay } = (output ?? error).$metadata ?? {};
    if (attempts) {
      record.attempts = attempts;
      if (totalRetryDelay) record.waited_ms = totalRetryDelay;
      if (reasons.length) record.failed = true;
    }
    const put = (fields) => write(JSON.stringify({ ...record, ...fields }) + "\n");
    put(keys(names, item));
    const index = reasons[0]?.resource?.split("/index/")[1];
    const entry = keys(tables[`${input.TableName}/${index}`] ?? [], item);
    if (entry.pk) put({ ...entry, index });
  };
  const step = (next, context) => async (args) => {
    if (!KEYED.has(context.commandName) || Math.random() >= rate) return next(args);
    try {
      const result = await next(args);
      observe(context.commandName, args.input, result.output);
      return result;
    } catch (error) {
      observe(context.commandName, args.input, undefined, error);
      throw error;
    }
  };
  client.middlewareStack.add(step, { step: "initialize", name: "keyheat" });
}
