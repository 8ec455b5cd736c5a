# A program of an application, for the test of docs/instrumenting.
import sys

import botocore.session
from botocore.exceptions import ClientError

sys.path.insert(0, sys.argv[1])
import keyheat_botocore

collector = keyheat_botocore.Collector(sys.argv[2])
client = botocore.session.get_session().create_client("dynamodb")
keyheat_botocore.instrument(client, {"orders": ("pk", "sk"), "orders/by-sk": ("sk", "pk")}, collector)
key = {"pk": {"S": "user#1"}, "sk": {"S": "1"}}


def fails(call, **arguments):
    try:
        call(TableName="orders", **arguments)
    except ClientError:
        return
    sys.exit("it did not fail")


client.put_item(TableName="orders", Item=key, ReturnConsumedCapacity="TOTAL")
if "ConsumedCapacity" in client.get_item(TableName="orders", Key=key, ConsistentRead=True):
    sys.exit("the program gets what it did not ask for")
fails(client.put_item, Item=key, ConditionExpression="attribute_not_exists(pk)")
fails(client.update_item, Key=key)
client.delete_item(TableName="orders", Key=key)
client.put_item(TableName="orders", Item=key | {"text": {"S": "x" * 3000}})
client.scan(TableName="orders")
collector.close()
sys.exit(collector.dropped)
