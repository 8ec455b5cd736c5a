import asyncio
import json

import pytest
from door import Server

import keyheat

aiobotocore = pytest.importorskip("aiobotocore.session", reason="scripts/ensure-python-clients aio has aiobotocore")


def test_an_asynchronous_client_describes_its_tables():
    key = {"pk": {"S": "user#1"}}
    description = {"Table": {"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}}

    def answer(n, headers, body):
        answered = description if "Describe" in headers["X-Amz-Target"] else {}
        return 200, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(answered).encode()

    async def program(url):
        samples = []
        session = aiobotocore.get_session()
        async with session.create_client(
            "dynamodb", "eu-west-1", endpoint_url=url, aws_access_key_id="test", aws_secret_access_key="test"
        ) as client:
            sampler = keyheat.instrument(client, samples.extend, describe_tables=True)
            while not samples:
                await client.put_item(TableName="orders", Item=key)
                await asyncio.to_thread(sampler.flush)
            assert await asyncio.to_thread(sampler.close)
        return samples, sampler.stats()

    with Server(answer) as server:
        samples, stats = asyncio.run(program(server.url))
    assert samples[0]["pk"] == "user#1" and stats.describe_errors == stats.panics == 0
    assert stats.unknown_keys + stats.records == stats.kept
