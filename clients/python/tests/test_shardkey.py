import json
from pathlib import Path

import pytest

from keyheat.shardkey import HASH_NUMBER, Form, Sharding

VECTORS = json.loads((Path(__file__).parents[2] / "conformance/shards.json").read_text())


def test_names_are_the_vectors():
    for v in VECTORS["picks"]:
        form = Form(**v["form"])
        assert Sharding(v["shards"], form).pick(v["base"], v["attribute"]) == v["name"]
        assert form.parse(v["name"]) == ("" if form.alone else v["base"], v["shard"])
    for v in VECTORS["none"]:
        assert Form(**v["form"]).parse(v["name"]) is None
    assert len(VECTORS["picks"]) == 24


def test_all_are_the_names_that_random_returns():
    sharding = Sharding(3)
    assert sharding.all("user#42") == ["user#42#0", "user#42#1", "user#42#2"]
    assert {sharding.random("user#42") for _ in range(200)} == set(sharding.all("user#42"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Sharding(0), lambda: Sharding(100_001), lambda: Sharding(2).name("b", 2), lambda: Sharding(2).name("", 0),
        lambda: Sharding(2).pick("b", ""), lambda: Form(), lambda: Form("#1"), lambda: Form("#", "#"), lambda: Form("#", prefix=True),
    ],
)  # fmt: skip
def test_impossible_shards_are_refused(wrong):
    with pytest.raises(ValueError, match="shardkey: "):
        wrong()


def test_a_number_alone_needs_no_mark():
    assert Form(prefix=True, alone=True).parse("7") == ("", 7)
    assert HASH_NUMBER.name("b", 7) == "b#7"
