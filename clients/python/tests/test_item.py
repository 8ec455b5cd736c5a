import json
from pathlib import Path

import pytest

from keyheat._item import attribute_key, canonical_number, hide, item_size, key_of

ROOT = Path(__file__).parents[3]
KEYS = json.loads((ROOT / "sample/testdata/keys.json").read_text())["keys"]


def spellings(kind):
    """Returns the keys of the vectors that all decoders agree on, as DynamoDB's JSON has them."""
    for key in KEYS:
        for json_key in [key["json"], *key.get("also", [])] if kind in key else ():
            if isinstance(json_key, dict) and all(isinstance(value, str) for value in json_key.values()):
                yield key, json_key


def test_numbers_are_the_vectors_keys():
    numbers = [(key, value["N"]) for key, value in spellings("text") if "N" in value]
    assert len(numbers) > 10
    for key, text in numbers:
        assert attribute_key({"N": text}) == (("N", key["text"]),), key["name"]


def test_bad_numbers_are_no_keys():
    bad = [value["N"] for _, value in spellings("bad") if list(value) == ["N"]]
    assert len(bad) > 3
    assert [canonical_number(text) for text in bad] == [None] * len(bad)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "é!"}, 3), ({"N": "42"}, 2), ({"N": "-123"}, 3), ({"N": "001200"}, 2), ({"N": "3.14159"}, 4),
        ({"N": "12E40"}, 2), ({"N": "0"}, 1), ({"B": b"0123456"}, 7), ({"B": bytearray(7)}, 7), ({"BOOL": True}, 1),
        ({"NULL": True}, 1), ({"SS": ["a", "bc"]}, 3), ({"NS": ["1", "22"]}, 4), ({"BS": [b"1", b"23"]}, 3), ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"S": "c"}]}, 8), ({"M": {"ab": {"S": "c"}}}, 7),
    ],
)  # fmt: skip
def test_sizes_follow_the_guide(value, size):
    assert item_size({"n": value}) == size + 1


def test_a_key_of_several_attributes_needs_all_of_them():
    item = {"a": {"S": "x"}, "b": {"N": "1.0"}}
    assert key_of(item, ("a", "b")) == (("S", "x"), ("N", "1"))
    assert key_of(item, ("a", "c")) == ()
    assert key_of(item, ()) == ()
    assert attribute_key({"S": ""}) == ()


def test_hidden_parts_beyond_sixteen_are_one():
    ((_, text),) = hide(b"0123456789abcdef", (("S", "#".join("x" * 40)),))
    assert len(text.split("#")) == 16
    assert len(set(text.split("#")[:15])) == 1
