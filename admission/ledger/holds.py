"""Who judges a claimed write: one holder over all threads and processes, each hold gone with its process."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from pathlib import Path
from typing import Protocol

from admission.errors import LedgerError


class Locks(Protocol):
    """What keeps the holders of several processes apart; used by one thread at a time."""

    def take(self, name: str) -> bool:
        """Lock `name` without waiting; False where another process has it."""

    def give_back(self, name: str) -> None: ...

    def close(self) -> None:
        """Give back all."""


class Holds:
    """The holds of one ledger object: those of its own threads in a set, against other processes by `locks`."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks
        self._held: set[str] = set()
        self._guard = threading.Lock()

    def take(self, fingerprint: str) -> bool:
        with self._guard:
            if fingerprint in self._held or not self._locks.take(fingerprint):
                return False
            self._held.add(fingerprint)
            return True

    def give_back(self, fingerprint: str) -> None:
        with self._guard:
            if fingerprint in self._held:
                self._held.discard(fingerprint)
                self._locks.give_back(fingerprint)

    def close(self) -> None:
        with self._guard:
            self._held.clear()
            self._locks.close()


class NoLocks:
    """For a ledger that no other process sees."""

    def take(self, name: str) -> bool:
        return True

    def give_back(self, name: str) -> None:
        pass

    def close(self) -> None:
        pass


class FileLocks:
    """Locks on single bytes of an empty file, one byte a name; the system drops them when the process ends.

    They are Linux's open file description locks (fcntl(2)), which several ledgers in a process do not lose to each
    other. On other systems every name is free: processes are not kept apart, and two may judge one write.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self, name: str) -> bool:
        try:
            import fcntl

            command = fcntl.F_OFD_SETLK
        except (ImportError, AttributeError):
            return True
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            fcntl.fcntl(self._file, command, _byte(fcntl.F_WRLCK, name))
        except BlockingIOError:
            return False
        except OSError as error:
            remedy = "make the ledger's folder writable for this user"
            raise LedgerError("ledger", f"{self._path}: cannot be locked ({error.strerror})", remedy) from error
        return True

    def give_back(self, name: str) -> None:
        if self._file is not None:
            import fcntl

            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _byte(fcntl.F_UNLCK, name))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def number_of(name: str) -> int:
    """A number of 63 bits for a name: what it is locked by."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1


def _byte(kind: int, name: str) -> bytes:
    """A `struct flock`: type, whence (from the start), start, length, process (0, as these locks ask for)."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, number_of(name), 1, 0)
