"""Samples a program's own DynamoDB requests, for Keyheat to find hot keys in them.

    import boto3, keyheat

    client = boto3.client("dynamodb")
    sampler = keyheat.instrument(client, keyheat.HTTP("http://collector:9461"), describe_tables=True)
    ...
    sampler.close()  # at the end of the program

It works with clients and resources of boto3, botocore and aiobotocore. It never blocks a request
or raises into the program, holds a bounded number of folded records, and a thread of its own
sends them once a second. sampler.stats() counts what was dropped or not understood.
"""

from . import shardkey
from ._access import Keys
from ._fold import Stats
from ._sampler import Sampler, instrument
from ._sink import HTTP, Lines, NotStoredError, Sink

__all__ = ["HTTP", "Keys", "Lines", "NotStoredError", "Sampler", "Sink", "Stats", "instrument", "shardkey"]
