"""The thread that sends folded records to the sink at the end of every second."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Callable

from ._fold import Fold
from ._sink import Sink


class Worker:
    """Starts with the first record, and again in the child of a fork."""

    def __init__(self, sink: Sink, fold: Fold) -> None:
        self.sink, self.fold = sink, fold
        self._forget()
        forked = weakref.WeakMethod(self._forked)
        os.register_at_fork(after_in_child=lambda: (forked() or _nothing)())

    def _forget(self) -> None:
        self.condition = threading.Condition()
        self.thread: threading.Thread | None = None
        self.wanted = self.done = 0  # flushes
        self.closing = False

    def _forked(self) -> None:
        """The parent sends what it has gathered. The child is another producer."""
        closed = self.closing
        self.fold.forget()
        self._forget()
        self.closing = closed
        getattr(self.sink, "reset", _nothing)()

    def start(self) -> None:
        if self.thread is None and not self.closing:
            with self.condition:
                if self.thread is None:
                    self.thread = threading.Thread(target=self._run, name="keyheat", daemon=True)
                    self.thread.start()

    def _run(self) -> None:
        while True:
            with self.condition:
                self.condition.wait_for(self._is_wanted, 1 - time.time() % 1)
                wanted, closing = self.wanted, self.closing
            self._send()
            with self.condition:
                self.done = wanted
                self.condition.notify_all()
            if closing:
                return

    def _is_wanted(self) -> bool:
        return self.closing or self.wanted > self.done

    def _send(self) -> None:
        records, lost = self.fold.take()
        try:
            if lost.n and hasattr(self.sink, "lose"):
                self.sink.lose(*lost)
            if not records:
                return
            n = sum(record.get("n", 1) for record in records)
            self.sink(records)
            self.fold.count(sent=n)
        except Exception:
            self.fold.count(sink_errors=1, dropped=n if records else 0)

    def flush(self, timeout: float) -> bool:
        dropped = self.fold.stats.dropped
        if self.thread is None:
            return True  # there was no record
        with self.condition:
            self.wanted += 1
            wanted = self.wanted
            self.condition.notify_all()
            in_time = self.condition.wait_for(lambda: self.done >= wanted or not self._is_alive(), timeout)
        return in_time and self.fold.stats.dropped == dropped

    def close(self, timeout: float) -> bool:
        dropped = self.fold.stats.dropped
        with self.fold.lock:
            self.fold.closed = True
        with self.condition:
            self.closing = True
            self.condition.notify_all()
        if self.thread is not None:
            self.thread.join(timeout)
        in_time = not self._is_alive()
        if not in_time:
            getattr(self.sink, "cancel", _nothing)()
        return in_time and self.fold.stats.dropped == dropped

    def _is_alive(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


_nothing: Callable[[], None] = lambda: None  # noqa: E731
