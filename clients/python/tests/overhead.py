"""Prints what the sampler adds to a request, in microseconds of the process's processor time.

    overhead.py [BLOCKS]

Every request is answered at once, without a network. Blocks of requests with and without the
sampler take turns, either one first, so that a busy machine slows both alike. The figure is the
median over pairs of blocks, with the half of the pairs around it.
"""

import statistics
import sys
import time
from pathlib import Path

import botocore.session
from botocore.awsrequest import AWSResponse

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
import keyheat  # noqa: E402

BLOCK = 50
OPTIONS = {
    "none kept": {"rate": 0},
    "1%": {"rate": 0.01},
    "100%, folded": {},
    "100%, asking for capacity": {"ask_capacity": True},
    "100%, hidden keys": {"hmac_key": b"0123456789abcdef"},
    "adaptive, 100 a second": {"max_per_second": 100},
}


class Empty:
    def stream(self, **_):
        yield b"{}"


def answer(request, **_):
    return AWSResponse(request.url, 200, {"Content-Type": "application/x-amz-json-1.0"}, Empty())


def client():
    made = session.create_client("dynamodb", "eu-west-1", aws_access_key_id="test", aws_secret_access_key="test")
    made.meta.events.register("before-send.dynamodb", answer)
    return made


def block(made):
    begun = time.process_time()
    for i in range(BLOCK):
        item = {"pk": {"S": f"user#{i % 16}"}, "sk": {"N": "7"}, "status": {"S": "open"}, "a": {"S": "some text"}}
        made.put_item(TableName="orders", Item=item)
    return (time.process_time() - begun) / BLOCK * 1e6


session = botocore.session.get_session()
bare = client()
blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 60
for name, options in OPTIONS.items():
    sampled = client()
    sampler = keyheat.instrument(sampled, lambda records: None, tables={"orders": ("pk", "sk")}, **options)
    block(sampled), block(bare)
    without, added = [], []
    for _ in range(blocks):
        one, two, three, four = block(bare), block(sampled), block(sampled), block(bare)
        without.append((one + four) / 2)
        added.append((two + three - one - four) / 2)
    assert sampler.close() and sampler.stats().panics == 0
    low, middle, high = statistics.quantiles(added, n=4)
    print(f"{name}: {middle:.1f} µs added ({low:.1f} to {high:.1f}) to {statistics.median(without):.0f} µs")
