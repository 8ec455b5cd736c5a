"""A function on a runtime that freezes it after each answer, for clients/conformance:

    function.py ENDPOINT COLLECTOR    sends to a collector, or writes lines to standard output if it is "lines"

Each line of standard input is a call that updates five items. The answer is a line on standard error.
"""

import sys
from pathlib import Path

import boto3

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
import keyheat  # noqa: E402

endpoint, collector = sys.argv[1:]
client = boto3.client(
    "dynamodb", region_name="eu-west-1", endpoint_url=endpoint, aws_access_key_id="test", aws_secret_access_key="test"
)
sink = keyheat.Lines(sys.stdout) if collector == "lines" else keyheat.HTTP(collector)
sampler = keyheat.instrument(client, sink, tables={"orders": ("pk",)}, caller="function")

for call in sys.stdin:
    for _ in range(5):
        client.update_item(TableName="orders", Key={"pk": {"S": f"user#{call.strip()}"}})
    print("stored" if sampler.flush(30) else "pending", file=sys.stderr, flush=True)
