"""A network between a ledger and its Postgres server that can be cut at will."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

_CHUNK = 65536


class FakeNetwork:
    """Passes bytes on between clients of `port` and a server, until told otherwise."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._cut: tuple[bytes, bool] | None = None
        self._to_refuse = 0
        # Over `_pairs` and `_closed`: a connection accepted just before the network closes must not outlive it.
        self._lock = threading.Lock()
        self._closed = False
        self.refused = 0
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, words: bytes, *, answer_only: bool = False) -> None:
        """Once, when a client sends `words`: lose them and the connection; with `answer_only`, let them pass and lose
        the server's answer and the connection."""
        self._cut = (words, answer_only)

    def cut_all(self) -> None:
        """Lose every connection there is."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _close(*pair)

    def refuse(self, connections: int) -> None:
        """Lose so many of the next connections at once."""
        self._to_refuse = connections

    def close(self) -> None:
        with self._lock:
            self._closed = True
        # Shut down first: a thread waits in accept.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self._to_refuse:
                self._to_refuse -= 1
                self.refused += 1
                client.close()
                continue
            server = socket.create_connection(self._server)
            with self._lock:
                if not self._closed:
                    self._pairs.append((client, server))
            if self._closed:
                _close(client, server)
                return
            muted = threading.Event()
            threading.Thread(target=self._requests, args=(client, server, muted), daemon=True).start()
            threading.Thread(target=self._answers, args=(client, server, muted), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(_CHUNK):
                if self._cut is not None and self._cut[0] in data:
                    answer_only = self._cut[1]
                    self._cut = None
                    self.cuts += 1
                    if not answer_only:
                        break
                    muted.set()
                server.sendall(data)
        if not muted.is_set():
            _close(client, server)

    def _answers(self, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(_CHUNK):
                if muted.is_set():
                    break
                client.sendall(data)
        _close(client, server)


def _close(*sockets: socket.socket) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
