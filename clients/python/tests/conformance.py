"""Makes the calls of clients/conformance: reads an order a line, writes what it observed.

    conformance.py [aio]
"""

import asyncio
import base64
import json
import sys
from dataclasses import asdict
from pathlib import Path

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
import keyheat  # noqa: E402

ATTEMPTS = 3


def keys(schema):
    indexes = {name: keys(index) for name, index in schema.get("indexes", {}).items()}
    return keyheat.Keys(tuple(schema["pk"] or ()), tuple(schema["sk"] or ()), indexes, schema.get("local", False))


def parameters(value):
    """Turns binary values from base64 to bytes, as botocore takes them."""
    if isinstance(value, list):
        return [parameters(one) for one in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["B"]:
        return {"B": base64.b64decode(value["B"])}
    return {name: parameters(one) for name, one in value.items()}


def again_at_once(codes):
    """Returns a handler that sends a request again without a pause."""

    def handler(attempts, response=None, caught_exception=None, **_):
        code = response[1].get("Error", {}).get("Code", "") if response else ""
        again = caught_exception or response[0].status_code >= 500 or "Throttl" in code or "Throughput" in code
        return 0 if attempts < ATTEMPTS and (again or code in (*codes, "RequestLimitExceeded")) else None

    return handler


def options(order):
    return {
        "service_name": "dynamodb", "region_name": "eu-west-1", "endpoint_url": order["endpoint"],
        "aws_access_key_id": "test", "aws_secret_access_key": "test",
        "config": config(retries={"mode": "standard", "total_max_attempts": ATTEMPTS}),
    }  # fmt: skip


def instrument(client, order, samples):
    client.meta.events.register_first("needs-retry.dynamodb", again_at_once(order["retry"] or ()))
    tables = {name: keys(schema) for name, schema in order["tables"].items()}
    secret = order["hmac"].encode() or None
    return keyheat.instrument(
        client, samples.extend, caller="conformance", ask_capacity=order["ask"], tables=tables, hmac_key=secret
    )


def make(order, samples):
    client = session.create_client(**options(order))
    sampler, error, response = instrument(client, order, samples), "", {}
    try:
        response = getattr(client, botocore.xform_name(order["op"]))(**parameters(order["input"]))
    except ClientError as failure:
        error = failure.response["Error"]["Code"]
    return sampler, error, response


async def make_async(order, samples):
    async with session.create_client(**options(order)) as client:
        sampler, error, response = instrument(client, order, samples), "", {}
        try:
            response = await getattr(client, botocore.xform_name(order["op"]))(**parameters(order["input"]))
        except ClientError as failure:
            error = failure.response["Error"]["Code"]
        return sampler, error, response


if sys.argv[1:] == ["aio"]:
    from aiobotocore.config import AioConfig as config
    from aiobotocore.session import get_session
else:
    config, get_session = Config, botocore.session.get_session
session = get_session()
for line in sys.stdin:
    samples = []
    order = json.loads(line)
    sampler, error, response = asyncio.run(make_async(order, samples)) if sys.argv[1:] else make(order, samples)
    sampler.close()
    observed = {"samples": samples, "stats": asdict(sampler.stats()), "error": error, "capacity": "ConsumedCapacity" in response}
    print(json.dumps(observed), flush=True)
