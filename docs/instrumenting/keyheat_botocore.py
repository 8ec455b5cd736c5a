"""Samples of a program's own DynamoDB requests, from botocore or boto3.

    import keyheat_botocore
    keyheat_botocore.instrument(client, {"orders": ("pk", "sk")}, sys.stdout, rate=0.01)

Writes one line of Keyheat JSON for each sampled request with one key. The
second argument names the key attributes by table, and by "orders/by-status" those
of an index: a write that the index throttled is then demand on its key, too. A
request that was throttled to the end is demand; botocore's own retries are one
request, and the record says how many attempts it took, and how long the program
waited after the first.
"""

import base64
import json
import random
import time

READS = {"GetItem"}
KEYED = READS | {"PutItem", "UpdateItem", "DeleteItem"}


def instrument(client, tables, out, rate=1.0):
    def before(params, context, **_):
        context["keyheat"] = params if random.random() < rate else None

    def attempted(attempts, request_dict, **_):
        if attempts == 1:
            request_dict["context"]["keyheat_first"] = time.monotonic()

    def value(attribute):
        kind, v = next(iter(attribute.items()))
        return {kind: base64.b64encode(v).decode() if kind == "B" else v}

    def keys(names, item):
        return {field: value(item[name]) for field, name in zip(("pk", "sk"), names) if name in item}

    def write(record):
        out.write(json.dumps(record, separators=(",", ":")) + "\n")

    def after(http_response, parsed, model, context, **_):
        params = context.get("keyheat")
        table = (params or {}).get("TableName")
        if model.name not in KEYED or table not in tables:
            return
        error = parsed.get("Error")
        reasons = parsed.get("ThrottlingReasons") or parsed.get("throttlingReasons") or []
        if error and not reasons and error["Code"] != "ConditionalCheckFailedException":
            return  # neither used capacity nor was refused it
        item = params.get("Key") or params["Item"]
        record = {"ts": int(time.time() * 1000), "table": table, "op": model.name, "rate": rate, "calls": 1}
        if "ConsumedCapacity" in parsed:  # the program asked for it
            unit = "rcu" if model.name in READS else "wcu"
            record[unit] = parsed["ConsumedCapacity"]["CapacityUnits"]
        if params.get("ConsistentRead"):
            record["read"] = "strong"
        record["attempts"] = parsed["ResponseMetadata"].get("RetryAttempts", 0) + 1
        if record["attempts"] > 1 and "keyheat_first" in context:
            record["waited_ms"] = round(1000 * (time.monotonic() - context["keyheat_first"]))
        if reasons:
            record["throttle"] = reasons[0]["reason"]
            record["failed"] = True
        write(record | keys(tables[table], item))
        index = reasons[0].get("resource", "").partition("/index/")[2] if reasons else ""
        entry = keys(tables.get(f"{table}/{index}", ()), item)
        if "pk" in entry:
            write(record | entry | {"index": index})

    client.meta.events.register("provide-client-params.dynamodb", before)
    client.meta.events.register("needs-retry.dynamodb", attempted)
    client.meta.events.register("after-call.dynamodb", after)
