"""Where answers of language models are kept between runs: a diskcache folder with texts, none executable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import diskcache
from diskcache.core import MODE_RAW, UNKNOWN

logger = logging.getLogger(__name__)
T = TypeVar("T")

WAIT_S = 5.0
"""Seconds to wait for another process that writes; after them the answer is simply not kept."""


class TextDisk(diskcache.Disk):  # type: ignore[misc]
    """Keys and values are texts in the database itself.

    diskcache's own class unpickles a value where its row says so, and opens and removes files that a row names: whoever
    can write the folder could run code. Here a row is a text or it is nothing.
    """

    def put(self, key: str) -> tuple[str, bool]:
        return key, True

    def get(self, key: object, raw: object) -> str:
        return str(key)

    def store(self, value: str, read: bool, key: object = UNKNOWN) -> tuple[int, int, None, str]:
        return 0, MODE_RAW, None, value

    def fetch(self, mode: int, filename: object, value: object, read: bool) -> str | None:
        return value if mode == MODE_RAW and isinstance(value, str) else None

    def remove(self, file_path: object) -> None:
        """No value is a file."""


class ResultCache:
    """Texts by digest in `folder`, at most about `size_mb` megabytes: beyond them the oldest make room.

    Safe for threads and processes. What cannot be read is not there, and what cannot be written is not kept: a
    warning in the log says so, once, and nothing fails.
    """

    def __init__(self, folder: Path, size_mb: int) -> None:
        self.folder = folder.expanduser()
        self._bytes = size_mb * 2**20
        self._cache: Any = None
        self._warned = False

    def read(self, keys: Iterable[str]) -> dict[str, str]:
        """What is kept under those of `keys` that there are."""

        def found(cache: Any) -> dict[str, str]:
            texts = {key: cache.get(key) for key in keys}
            return {key: text for key, text in texts.items() if isinstance(text, str)}

        return self._within(found, {})

    def write(self, texts: Mapping[str, str]) -> None:
        def keep(cache: Any) -> None:
            for key, text in texts.items():
                cache.set(key, text)

        if texts:
            self._within(keep, None)

    def clear(self) -> int:
        """Remove everything; how many entries there were. Raises what went wrong: erasure must not fail in silence."""
        with self._opened() as cache:
            return int(cache.clear(retry=True))

    def _within(self, work: Callable[[Any], T], otherwise: T) -> T:
        try:
            with self._opened() as cache:  # closed after it: connections belong to threads, and ours are short-lived
                return work(cache)
        except Exception as error:  # noqa: BLE001 - a folder that is full, locked, broken or not ours costs calls, not writes
            if not self._warned:
                logger.warning("the result cache in %s cannot be used (%s): models are asked anew", self.folder, error)
            self._warned = True
            return otherwise

    def _opened(self) -> Any:
        if self._cache is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Deleted answers are overwritten: they may quote what somebody wants forgotten.
            self._cache = diskcache.Cache(
                self.folder, timeout=WAIT_S, disk=TextDisk, size_limit=self._bytes, sqlite_secure_delete=1
            )
        return self._cache
