"""Where records go: to collectors over HTTP, or as lines to a stream."""

from __future__ import annotations

import base64
import gzip
import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TextIO

from ._fold import Loss, Record

DEFAULT_COLLECTOR = "http://127.0.0.1:9461"

# The most records and bytes of a batch, below the collector's limit of 4 MiB.
_BATCH_RECORDS, _BATCH_BYTES = 20_000, 3_000_000
# Seconds. An attempt takes longer than a collector waits for its commit.
_ATTEMPT_TIMEOUT, _FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_RETRY_AFTER = 35.0, 0.2, 5.0, 60.0


class Sink(Protocol):
    """Takes records, from one thread, and may take its time. If it raises, they are dropped.

    A sink may also have lose(n, since, until), which hears of records that were dropped before
    they came to it; cancel(), which ends a write soon; and reset(), for the child of a fork.
    """

    def __call__(self, records: Sequence[Record]) -> None: ...


def to_line(record: Record) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class Lines:
    """A sink that writes Keyheat JSON, one record a line, such as Lines(sys.stdout)."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, records: Sequence[Record]) -> None:
        self._stream.write(b"".join(map(to_line, records)).decode())
        self._stream.flush()


class NotStoredError(Exception):
    """No collector stored a batch."""


class HTTP:
    """A sink that sends to collectors of one store. A batch counts once, however often it is sent.

    It sends one numbered batch at a time, and repeats it until a collector has stored it, at
    most for retry_for seconds. The next batch tells the collector what was dropped. URLs may
    have a user: https://orders:PASSWORD@collector:9461. on_error gets each failed attempt.
    short_lived says that this process soon ends or freezes: collectors have room for many such.
    It is true on AWS Lambda by default.
    """

    def __init__(
        self,
        *collectors: str,
        retry_for: float = 300,
        ssl_context: ssl.SSLContext | None = None,
        short_lived: bool | None = None,
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        self._targets = [_target(url) for url in collectors or (DEFAULT_COLLECTOR,)]
        short = "AWS_LAMBDA_FUNCTION_NAME" in os.environ if short_lived is None else short_lived
        self._life = {"Keyheat-Producer-Life": "short"} if short else {}
        self._retry_for, self._ssl, self._on_error = retry_for, ssl_context, on_error
        self._current = 0
        self.reset()

    def reset(self) -> None:
        self._lost = Loss(0, 0, 0)
        self._cancelled = threading.Event()
        self._rename()

    def cancel(self) -> None:
        self._cancelled.set()

    def lose(self, n: int, since: int, until: int) -> None:
        self._lost = self._lost.plus(n, since, until)

    def __call__(self, records: Sequence[Record]) -> None:
        sent = 0
        try:
            for batch in _batches(map(to_line, records)):
                self._deliver(gzip.compress(b"".join(batch), 6))
                sent, self._lost = sent + len(batch), Loss(0, 0, 0)
        except Exception:
            for record in records[sent:]:
                self.lose(record.get("n", 1), record["ts"], record["ts"])
            raise

    def _rename(self) -> None:
        """Makes the sink another producer."""
        self._producer, self._sequence = uuid.uuid4().hex, 1

    def _deliver(self, body: bytes) -> None:
        """Sends a batch until it is stored, refused, or its time is over."""
        deadline, pause = time.monotonic() + self._retry_for, _FIRST_PAUSE
        while True:
            after, error = self._attempt(body)
            if error is None:
                self._sequence += 1
                return
            if self._on_error:
                self._on_error(error)
            if after is None:
                raise error
            left = deadline - time.monotonic()
            if self._cancelled.wait(max(0, min(left, max(pause, after)))) or time.monotonic() >= deadline:
                self._rename()  # the batch may be stored: its number must not be used for another one
                raise error
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _attempt(self, body: bytes) -> tuple[float | None, Exception | None]:
        """Sends a batch once. Returns an error, and the seconds to wait: None means never again."""
        url, headers = self._targets[self._current % len(self._targets)]
        headers = headers | self._life | {"Keyheat-Producer": self._producer, "Keyheat-Sequence": str(self._sequence)}
        if self._lost.n:
            headers["Keyheat-Dropped"] = " ".join(map(str, self._lost))
        request = urllib.request.Request(url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=_ATTEMPT_TIMEOUT, context=self._ssl) as response:
                response.read()
            return 0, None
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(1 << 10).decode("utf-8", "replace").strip()
            failure = NotStoredError(f"{url}: {error.code} {error.reason}: {text}")
            if error.code in (400, 413, 415):
                return None, failure
            if error.code == 409:
                self._rename()
            else:
                self._current += 1
            seconds = error.headers.get("Retry-After", "")
            return min(float(seconds), _LONGEST_RETRY_AFTER) if seconds.isdecimal() else 0, failure
        except Exception as error:  # a broken connection: perhaps the batch is stored
            self._current += 1
            return 0, NotStoredError(f"{url}: {error}")


def _target(url: str) -> tuple[str, dict[str, str]]:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError("keyheat: a collector's URL begins with http:// or https://")
    user, _, host = parts.netloc.rpartition("@")
    headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(urllib.parse.unquote(user).encode()).decode()
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}/v1/samples", headers


def _batches(lines: Iterable[bytes]) -> Iterable[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == _BATCH_RECORDS or size + len(line) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield batch
