import io
import json

import pytest
from door import Server, ok

from keyheat import HTTP, Lines, NotStoredError

RECORDS = [{"ts": 1763692032000, "table": "orders", "pk": "user#1", "op": "GetItem", "n": 3}]


def test_a_batch_keeps_its_number_until_it_is_stored():
    def answer(n, *_):
        return [None, (503, {"Retry-After": "0"}, b"busy"), ok(), ok()][n - 1]

    errors = []
    with Server(answer) as door:
        sink = HTTP(door.url, on_error=errors.append)
        sink(RECORDS)
        sink(RECORDS)
        batches = door.batches()
    assert [sequence for _, sequence, _ in batches] == ["1", "1", "1", "2"]
    assert len({producer for producer, _, _ in batches}) == 1
    assert all(samples == RECORDS for _, _, samples in batches)
    assert len(errors) == 2


def test_a_lost_count_is_another_producer():
    with Server(lambda n, *_: (409, {}, b"") if n == 2 else ok()) as door:
        sink = HTTP(door.url)
        sink(RECORDS)
        sink(RECORDS)
        (first, _, _), (refused, number, _), (again, one, _) = door.batches()
    assert (refused, number, one) == (first, "2", "1")
    assert again != first


def test_a_refused_batch_is_dropped_and_reported_with_the_next():
    with Server(lambda n, *_: (400, {}, b"what") if n == 1 else ok()) as door:
        sink = HTTP(door.url)
        with pytest.raises(NotStoredError, match="400"):
            sink(RECORDS)
        sink.lose(2, 1763692031000, 1763692031500)
        sink(RECORDS)
        sink(RECORDS)
        dropped = [headers.get("Keyheat-Dropped") for _, headers, _ in door.requests]
        assert [sequence for _, sequence, _ in door.batches()] == ["1", "1", "2"]
    assert dropped == [None, "5 1763692031000 1763692032000", None]


def test_the_next_collector_gets_the_same_batch():
    with Server(lambda *_: (401, {}, b"")) as closed, Server(ok) as door:
        HTTP(closed.url.replace("//", "//orders:pass%3Aword@"), door.url)(RECORDS)
        assert closed.batches()[0][:2] == door.batches()[0][:2]
        assert closed.requests[0][1]["Authorization"] == "Basic b3JkZXJzOnBhc3M6d29yZA=="
        assert closed.requests[0][0] == "/v1/samples"


def test_a_batch_ends_with_its_time_and_its_number_is_not_used_again():
    errors = []
    with Server(lambda n, *_: ok() if n > 1 else None) as door:
        sink = HTTP(door.url.replace("//", "//orders:SECRET@"), retry_for=0, on_error=errors.append)
        with pytest.raises(NotStoredError):
            sink(RECORDS)
        sink(RECORDS)
        (first, _, _), (second, one, _) = door.batches()
    assert first != second and one == "1"
    assert "SECRET" not in str(errors[0])


def test_cancel_ends_a_write():
    with Server(lambda *_: (503, {"Retry-After": "60"}, b"")) as door:
        sink = HTTP(door.url, on_error=lambda _: sink.cancel())
        with pytest.raises(NotStoredError):
            sink(RECORDS)


def test_large_records_are_several_batches_below_the_limit():
    records = [{"ts": 1763692032000, "table": "orders", "pk": "x" * 2000, "n": i + 2} for i in range(2000)]
    with Server(ok) as door:
        HTTP(door.url)(records)
        batches = door.batches()
    assert [sequence for _, sequence, _ in batches] == ["1", "2"]
    assert [record for _, _, samples in batches for record in samples] == records


def test_lines_are_json_with_the_texts_as_they_are():
    stream = io.StringIO()
    Lines(stream)([{"pk": "Zoë\n", "n": 2}, {"pk": "x"}])
    assert stream.getvalue().splitlines()[0] == '{"pk":"Zoë\\n","n":2}'
    assert [json.loads(line)["pk"] for line in stream.getvalue().splitlines()] == ["Zoë\n", "x"]


def test_a_url_without_a_scheme_is_refused():
    with pytest.raises(ValueError, match="http"):
        HTTP("collector:9461")


def test_reset_is_another_producer():
    with Server(ok) as door:
        sink = HTTP(door.url)
        sink(RECORDS)
        sink.reset()
        sink(RECORDS)
        (first, _, _), (second, one, _) = door.batches()
    assert first != second and one == "1"


def test_a_function_is_short_lived(monkeypatch):
    with Server(ok) as door:
        HTTP(door.url)(RECORDS)
        HTTP(door.url, short_lived=True)(RECORDS)
        monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "orders")
        HTTP(door.url)(RECORDS)
        HTTP(door.url, short_lived=False)(RECORDS)
        lives = [headers.get("Keyheat-Producer-Life") for _, headers, _ in door.requests]
    assert lives == [None, "short", "short", None]
