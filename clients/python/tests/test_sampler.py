import json
import math
import os
import random
import threading
from decimal import Decimal

import boto3
import botocore.session
import pytest
from boto3.dynamodb.conditions import Key
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError
from door import Server, ok

import keyheat
from keyheat._fold import Pace

ORDERS = {"orders": keyheat.Keys("pk", "sk", {"by-status": keyheat.Keys("status")})}
KEY = {"pk": {"S": "user#1"}, "sk": {"N": "7"}}
UNITS = {"TableName": "orders", "CapacityUnits": 2, "Table": {"CapacityUnits": 2}}


def answering(body, status=200):
    return lambda *_: (status, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(body).encode())


def options(url, attempts=1):
    return {
        "region_name": "eu-west-1", "endpoint_url": url, "aws_access_key_id": "test", "aws_secret_access_key": "test",
        "config": Config(retries={"mode": "standard", "total_max_attempts": attempts}),
    }  # fmt: skip


def client_of(url, **more):
    return botocore.session.get_session().create_client("dynamodb", **options(url, **more))


@pytest.fixture
def dynamo():
    with Server(answering({"ConsumedCapacity": UNITS})) as server:
        yield server


def test_the_program_gets_what_it_asked_for(dynamo):
    samples = []
    client = client_of(dynamo.url)
    sampler = keyheat.instrument(client, samples.extend, tables=ORDERS, ask_capacity=True)
    assert "ConsumedCapacity" not in client.delete_item(TableName="orders", Key=KEY)
    assert client.delete_item(TableName="orders", Key=KEY, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"] == UNITS
    params = {"TableName": "orders", "Key": KEY, "ReturnConsumedCapacity": "NONE"}
    client._make_api_call("DeleteItem", params)
    assert params == {"TableName": "orders", "Key": KEY, "ReturnConsumedCapacity": "NONE"}
    asked = [json.loads(body)["ReturnConsumedCapacity"] for _, _, body in dynamo.requests]
    assert asked == ["INDEXES", "TOTAL", "INDEXES"]
    assert sampler.close()
    assert sum(sample["n"] if "n" in sample else 1 for sample in samples) == 3
    assert {sample["wcu"] for sample in samples} == {2} and {sample["region"] for sample in samples} == {"eu-west-1"}


def test_a_resource_of_boto3_passes_plain_values():
    item = {"pk": "user#1", "sk": Decimal("7.0"), "status": "open"}
    stored = {"pk": {"S": "user#1"}, "sk": {"N": "7"}, "status": {"S": "open"}}
    with Server(answering({"Items": [stored], "Count": 1, "ScannedCount": 1, "ConsumedCapacity": UNITS})) as server:
        samples = []
        resource = boto3.resource("dynamodb", **options(server.url))
        sampler = keyheat.instrument(resource, samples.extend, tables=ORDERS, ask_capacity=True)
        table = resource.Table("orders")
        table.put_item(Item=item)
        found = table.query(KeyConditionExpression=Key("pk").eq("user#1") & Key("sk").gt(1))
        assert found["Items"] == [item] and "ConsumedCapacity" not in found
        assert sampler.close()
    assert {(s["op"], s["pk"], json.dumps(s.get("sk"))) for s in samples} == {
        ("PutItem", "user#1", '{"N": "7"}'),
        ("Query", "user#1", "null"),
    }
    assert sampler.stats().panics == 0


def test_tables_are_described_once_beside_the_requests():
    description = {"Table": {
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "GlobalSecondaryIndexes": [{"IndexName": "by-status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}]}],
        "LocalSecondaryIndexes": [{"IndexName": "by-date", "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "date", "KeyType": "RANGE"}]}],
    }}  # fmt: skip

    def answer(n, headers, body):
        return answering(description if "Describe" in headers["X-Amz-Target"] else {})(n, headers, body)

    with Server(answer) as server:
        client = client_of(server.url)
        samples = []
        sampler = keyheat.instrument(client, samples.extend, describe_tables=True)
        while not samples:
            client.put_item(TableName="orders", Item=KEY | {"status": {"S": "open"}})
            sampler.flush()
        assert sampler._schema("orders") == keyheat.Keys(
            "pk", "sk", {"by-status": keyheat.Keys("status"), "by-date": keyheat.Keys("pk", "date", local=True)}
        )
        described = [h for _, h, _ in server.requests if "Describe" in h["X-Amz-Target"]]
        assert len(described) == 1
        stats = sampler.stats()
        assert stats.unknown_keys + stats.records == stats.kept == stats.requests


def test_a_description_that_fails_is_counted():
    with Server(answering({"__type": "AccessDeniedException"}, 400)) as server:
        sampler = keyheat.instrument(client_of(server.url), [].extend, describe_tables=True)
        sampler._schema("orders")
        while not sampler.stats().describe_errors:
            sampler.flush()
        assert sampler._schema("orders") is None
        assert len(server.requests) == 1


def test_a_fixed_rate_is_in_the_records(dynamo):
    samples = []
    client = client_of(dynamo.url)
    random.seed(7)
    sampler = keyheat.instrument(client, samples.extend, tables=ORDERS, rate=0.25)
    none = keyheat.instrument(client_of(dynamo.url), samples.extend, rate=0)
    for _ in range(400):
        client.delete_item(TableName="orders", Key=KEY)
    assert sampler.close() and none.close()
    kept = sum(sample.get("n", 1) for sample in samples)
    assert sampler.stats().requests == 400 and sampler.stats().kept == kept
    assert abs(kept - 100) < 6 * math.sqrt(400 * 0.25 * 0.75)
    assert {sample["rate"] for sample in samples} == {0.25}


def test_an_adaptive_rate_is_unbiased_and_within_its_limit():
    limit, seconds, runs = 64, [10, 1000, 5, 300, 20_000, 40], 40
    truth, total, stated = sum(seconds), 0.0, 0.0
    for seed in range(runs):
        chance, pace = random.Random(seed), Pace(limit)
        for second, n in enumerate(seconds):
            kept = 0
            for _ in range(n):
                rate, admitted = pace.admit(1, 1000 + second, chance.random())
                kept += admitted
                total += admitted / rate
                stated += admitted * (1 - rate) / rate**2
            assert kept <= limit
    assert abs(total / runs - truth) < 3 * math.sqrt(stated) / runs


def test_memory_is_bounded_and_the_sink_hears_of_what_was_dropped(dynamo):
    class Gathering(list):
        losses = []

        def __call__(self, records):
            self.extend(records)

        def lose(self, *loss):
            self.losses.append(loss)

    sink, client = Gathering(), client_of(dynamo.url)
    sampler = keyheat.Sampler(sink, tables=ORDERS, max_pending=2)
    sampler._worker.start = lambda: None  # so that no tick takes records meanwhile
    sampler.instrument(client)
    for n in range(5):
        client.delete_item(TableName="orders", Key=KEY | {"pk": {"S": str(n)}})
    del sampler._worker.start
    sampler._worker.start()
    assert sampler.flush()
    assert (sampler.stats().dropped, sampler.stats().sent, len(sink)) == (3, 2, 2)
    ((n, since, until),) = sink.losses
    assert n == 3 and since <= until and since % 1000 == 0


def test_a_sink_that_raises_loses_records_and_nothing_else(dynamo):
    def broken(records):
        raise OSError("disk full")

    client = client_of(dynamo.url)
    sampler = keyheat.instrument(client, broken, tables=ORDERS)
    client.delete_item(TableName="orders", Key=KEY)
    assert not sampler.flush()
    assert (sampler.stats().sink_errors, sampler.stats().dropped, sampler.stats().sent) == (1, 1, 0)
    assert sampler.close()


def test_faults_inside_do_not_reach_the_program(dynamo, monkeypatch):
    client = client_of(dynamo.url)
    sampler = keyheat.instrument(client, [].extend, tables=ORDERS, ask_capacity=True)
    with monkeypatch.context() as broken:
        broken.setattr(sampler, "_schema", lambda *_: 1 / 0)
        assert "ConsumedCapacity" not in client.delete_item(TableName="orders", Key=KEY)
    with monkeypatch.context() as broken:
        broken.setattr(sampler, "_admit", lambda *_: 1 / 0)
        client.delete_item(TableName="orders", Key=KEY)
    monkeypatch.setattr("keyheat._call.Call.attempt", lambda *_: 1 / 0)
    client.delete_item(TableName="orders", Key=KEY)
    assert sampler.stats().panics == 3


def test_flush_waits_no_longer_than_its_timeout(dynamo):
    entered, release = threading.Event(), threading.Event()

    def slow(records):
        entered.set()
        release.wait()

    client = client_of(dynamo.url)
    sampler = keyheat.instrument(client, slow, tables=ORDERS)
    assert sampler.flush()  # nothing to send
    client.delete_item(TableName="orders", Key=KEY)
    assert not sampler.flush(timeout=0.01)
    entered.wait()
    assert not sampler.close(timeout=0.01)
    release.set()
    assert sampler.close()
    assert sampler.stats().sent == 1
    client.delete_item(TableName="orders", Key=KEY)  # after the end, nothing is sampled
    assert sampler.stats().requests == 1


def test_a_broken_line_is_counted():
    samples = []
    client = client_of("http://127.0.0.1:9", attempts=1)
    sampler = keyheat.instrument(client, samples.extend, tables=ORDERS)
    with pytest.raises(EndpointConnectionError):
        client.get_item(TableName="orders", Key=KEY)
    assert sampler.close()
    assert samples == [] and sampler.stats().failed == 1


def test_a_request_waits_for_its_retries():
    throttled = {"__type": "ThrottlingException", "throttlingReasons": [{"reason": "TableReadKeyRangeThroughputExceeded"}]}
    samples = []
    with Server(answering(throttled, 400)) as server:
        client = client_of(server.url, attempts=2)
        client.meta.events.register_first("needs-retry.dynamodb", lambda attempts, **_: 0.05 if attempts < 2 else None)
        sampler = keyheat.instrument(client, samples.extend, tables=ORDERS)
        with pytest.raises(ClientError):
            client.get_item(TableName="orders", Key=KEY)
        assert sampler.close()
    (demand,) = [sample for sample in samples if "attempts" in sample]
    assert demand["attempts"] == 2 and demand["failed"] and demand["waited_ms"] >= 50


def test_threads_lose_nothing(dynamo):
    samples = []
    client = client_of(dynamo.url)
    sampler = keyheat.instrument(client, samples.extend, tables=ORDERS)

    def work():
        for n in range(50):
            client.delete_item(TableName="orders", Key=KEY | {"pk": {"S": str(n % 7)}})

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sampler.close()
    assert sum(sample.get("n", 1) for sample in samples) == 400 == sampler.stats().requests
    assert sum(sample["calls"] for sample in samples) == 400


def test_a_presigned_url_is_no_request():
    client = client_of("http://127.0.0.1:9")
    sampler = keyheat.instrument(client, [].extend, ask_capacity=True)
    url = client.generate_presigned_url("get_item", {"TableName": "orders", "Key": KEY})
    assert "Capacity" not in url and sampler.stats().requests == 0


def test_an_instrumented_client_is_sampled_once(dynamo):
    samples = []
    client = client_of(dynamo.url)
    sampler = keyheat.instrument(client, samples.extend, tables=ORDERS)
    sampler.instrument(client)
    client.delete_item(TableName="orders", Key=KEY)
    assert sampler.close() and len(samples) == 1 and "n" not in samples[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_is_a_producer_of_its_own(dynamo):
    with Server(ok) as door:
        client = client_of(dynamo.url)
        sampler = keyheat.instrument(client, keyheat.HTTP(door.url), tables=ORDERS)
        client.delete_item(TableName="orders", Key=KEY | {"pk": {"S": "parent"}})
        child = os.fork()
        if child == 0:
            client.delete_item(TableName="orders", Key=KEY | {"pk": {"S": "child"}})
            os._exit(0 if sampler.close() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert sampler.close()
        batches = door.batches()
    assert sorted(sample["pk"] for _, _, samples in batches for sample in samples) == ["child", "parent"]
    assert len({producer for producer, _, _ in batches}) == 2 and {number for _, number, _ in batches} == {"1"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 1.5}, {"rate": -0.1}, {"rate": math.nan}, {"rate": 0.5, "max_per_second": 100}, {"max_per_second": 1},
        {"hmac_key": b"short"}, {"tables": {"orders": keyheat.Keys()}}, {"tables": {"orders": ()}}, {"max_pending": 0},
    ],
)  # fmt: skip
def test_options_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="keyheat: "):
        keyheat.Sampler([].extend, **wrong)
