"""A small table of the most recently used entries, for many threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class RecentlyUsed(Generic[Value]):
    """At most `limit` values; a new one takes the place of the one that was not looked up for longest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value of `key`, which thereby is the most recently used, or None."""
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, key: Hashable, value: Value) -> None:
        """Keeps `value` under `key`."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._limit:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
