"""Samples of a program's own DynamoDB requests, from botocore or boto3.

    import keyheat_botocore
    collector = keyheat_botocore.Collector("http://127.0.0.1:9461")
    keyheat_botocore.instrument(client, {"orders": ("pk", "sk")}, collector, rate=0.01)

Writes one line of Keyheat JSON for each sampled request with one key, to a collector or
to a file such as sys.stdout. The
second argument names the key attributes by table, and by "orders/by-status" those
of an index: a write that the index throttled is then demand on its key, too. Sampled
requests ask for the consumed capacity, without which a load is a lower bound. The
program does not see it, unless it asked itself. A
request that was throttled to the end is demand; botocore's own retries are one
request, and the record says how many attempts it took, and how long the program
waited after the first. Each throttled attempt before the last is a record without units.
"""

import base64
import json
import logging
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

READS = {"GetItem"}
KEYED = READS | {"PutItem", "UpdateItem", "DeleteItem"}
LOST = {"TransactionConflictException": "conflict", "ConditionalCheckFailedException": "condition_failed"}


def instrument(client, tables, out, rate=1.0):
    def before(params, model, context, **_):
        kept = random.random() < rate and model.name in KEYED and params.get("TableName") in tables
        context["keyheat"] = params if kept else None
        context["keyheat_asked"] = kept and "ReturnConsumedCapacity" not in params
        if context["keyheat_asked"]:
            return params | {"ReturnConsumedCapacity": "INDEXES"}

    def attempted(attempts, request_dict, response=None, **_):
        context = request_dict["context"]
        if attempts == 1:
            context["keyheat_first"], context["keyheat_refused"] = time.monotonic(), []
        if response is not None:  # else the connection failed
            context["keyheat_refused"].append(throttled(response[1]))

    def throttled(parsed):
        return parsed.get("ThrottlingReasons") or parsed.get("throttlingReasons") or []

    def value(attribute):
        kind, v = next(iter(attribute.items()))
        return {kind: base64.b64encode(v).decode() if kind == "B" else v}

    def keys(names, item):
        return {field: value(item[name]) for field, name in zip(("pk", "sk"), names) if name in item}

    def write(record):
        out.write(json.dumps(record, separators=(",", ":")) + "\n")

    def after(http_response, parsed, model, context, **_):
        params = context.get("keyheat")
        if not params:
            return
        table = params["TableName"]
        consumed = parsed.pop("ConsumedCapacity", None) if context["keyheat_asked"] else parsed.get("ConsumedCapacity")
        error = parsed.get("Error")
        reasons = throttled(parsed)
        lost = LOST.get(error["Code"]) if error else None
        if error and not reasons and not lost:
            return  # neither used capacity nor was refused it
        item = params.get("Key") or params["Item"]
        record = {"ts": int(time.time() * 1000), "table": table, "op": model.name, "rate": rate, "calls": 1}
        unit = "rcu" if model.name in READS else "wcu"

        def put(record, reasons):
            if reasons:
                record["throttle"] = reasons[0]["reason"]
            write(record | keys(tables[table], item))
            index = reasons[0].get("resource", "").partition("/index/")[2] if reasons else ""
            entry = keys(tables.get(f"{table}/{index}", ()), item)
            if "pk" in entry:
                write(record | entry | {"index": index})

        for earlier in context.get("keyheat_refused", [])[:-1]:
            if earlier:
                put(record | {unit: 0}, earlier)
        if consumed:
            indexes = consumed.get("GlobalSecondaryIndexes", {}).values()
            record[unit] = consumed["CapacityUnits"] - sum(i["CapacityUnits"] for i in indexes)
        if params.get("ConsistentRead"):
            record["read"] = "strong"
        record["attempts"] = parsed["ResponseMetadata"].get("RetryAttempts", 0) + 1
        if record["attempts"] > 1 and "keyheat_first" in context:
            record["waited_ms"] = round(1000 * (time.monotonic() - context["keyheat_first"]))
        if reasons:
            record["failed"] = True
        if lost:
            record[lost] = 1
        if lost == "conflict":
            record[unit] = 0  # what it cost is unknown
        put(record, reasons)

    client.meta.events.register("provide-client-params.dynamodb", before)
    client.meta.events.register("needs-retry.dynamodb", attempted)
    client.meta.events.register("after-call.dynamodb", after)


class Collector:
    """Sends lines to a Keyheat collector every second, from a thread of its own.

    A batch keeps its number until the collector has stored it, and so counts once.
    Lines beyond `most` bytes, and batches that are not stored within five minutes,
    are dropped, and counted in `dropped`. Each failed attempt is a warning of the
    logger "keyheat". The URL may have a user: https://orders:PASSWORD@collector:9461.
    Make it in the process that uses it, not before a fork.
    """

    def __init__(self, url="http://127.0.0.1:9461", most=3_000_000):
        parts = urllib.parse.urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
        self.most, self.dropped = most, 0
        self.url = f"{parts.scheme}://{host}{parts.path}".rstrip("/") + "/v1/samples"
        self.headers = {"Content-Type": "application/x-ndjson"}
        if user:
            user = base64.b64encode(urllib.parse.unquote(user).encode()).decode()
            self.headers["Authorization"] = "Basic " + user
        self.lines, self.bytes, self.lock = [], 0, threading.Lock()
        self.producer, self.sequence = uuid.uuid4().hex, 1
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def write(self, line):
        with self.lock:
            if self.bytes + len(line) > self.most:
                self.dropped += 1
            else:
                self.lines.append(line)
                self.bytes += len(line)

    def close(self, timeout=10):
        """Sends what is left, within the timeout in seconds."""
        self.closing.set()
        self.thread.join(timeout)

    def _run(self):
        while not self.closing.wait(1) or self.lines:
            with self.lock:
                lines, self.lines, self.bytes = self.lines, [], 0
            if lines and not self._send("".join(lines).encode()):
                self.dropped += len(lines)

    def _send(self, body):
        until = time.monotonic() + 300
        while time.monotonic() < until:
            headers = self.headers | {"Keyheat-Producer": self.producer, "Keyheat-Sequence": str(self.sequence)}
            try:
                urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=35).close()
                self.sequence += 1
                return True
            except urllib.error.HTTPError as error:
                logging.getLogger("keyheat").warning("%s: %s", self.url, error)
                if error.code in (400, 413, 415):
                    return False
                if error.code == 409:
                    self.producer, self.sequence = uuid.uuid4().hex, 1
            except OSError as error:  # perhaps it is stored: the same number again
                logging.getLogger("keyheat").warning("%s: %s", self.url, error)
            time.sleep(1)
        self.producer, self.sequence = uuid.uuid4().hex, 1
        return False
