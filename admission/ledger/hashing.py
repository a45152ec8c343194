"""What a ledger entry's hash is taken of and how, with a key or without."""

from __future__ import annotations

import hashlib
import hmac

from admission.errors import LedgerError
from admission.ledger.protocol import Entry
from admission.records import canonical_json

_FORMAT = b"admission-ledger/1"


def canonical_bytes(entry: Entry, body: str | None = None) -> bytes:
    """Everything the hash covers besides the entry's place (`previous`, `seq`): one byte string for one content.
    `body`: the canonical JSON of its body, where it is at hand."""
    content = {
        "kind": entry.kind,
        "time": entry.time,
        "fingerprint": entry.fingerprint,
        "namespace": list(entry.namespace),
        "key": entry.key,
        "value_digest": entry.value_digest,
    }
    if entry.salt is not None:
        content["salt"] = entry.salt
    # In the order of their names the body is the first.
    rest = canonical_json(content).removeprefix("{")
    return f'{{"body":{_body(entry, body)},{rest}'.encode("utf-8", "surrogatepass")


def _body(entry: Entry, body: str | None) -> str:
    return canonical_json(entry.body) if body is None else body


class Hashing:
    """SHA-256, or HMAC-SHA256 where a key is given.

    Without a key, whoever can write the ledger can hash a changed chain anew, and only a head kept elsewhere shows it;
    with a key kept out of the ledger, they cannot.
    """

    def __init__(self, key: bytes | None = None) -> None:
        if key is not None and not key:
            raise LedgerError("key", "is empty", "give some secret bytes, or no key at all")
        self._key = key

    @property
    def keyed(self) -> bool:
        return self._key is not None

    @property
    def key_check(self) -> str:
        """Tells whether two ledgers have the same key, without telling the key; empty for no key."""
        return "" if self._key is None else self._digest(b"key check")

    def hash_of(self, entry: Entry, body: str | None = None) -> str:
        """The hash (64 hex characters) of an entry at its `seq`, after its `previous`. `body`: as `canonical_bytes`."""
        return self.link(entry.previous, entry.seq, canonical_bytes(entry, body))

    def link(self, previous: str, seq: int, content: bytes) -> str:
        """The hash of this content (`canonical_bytes`) as entry `seq` after the entry with hash `previous`."""
        return self._digest(f"{previous}\n{seq}\n".encode("utf-8", "surrogatepass") + content)

    def content_digest(self, entry: Entry, body: str | None = None) -> str:
        """Of body and value digest alone (64 hex characters). `body` as in `canonical_bytes`."""
        content = f'{{"body":{_body(entry, body)},"value_digest":{canonical_json(entry.value_digest)}}}'
        return self._digest(b"content\n" + content.encode("utf-8", "surrogatepass"))

    def left_digest(self, entry: Entry) -> str:
        """Of an entry as an erasure left it (64 hex characters)."""
        return self._digest(f"left\n{entry.seq}\n".encode() + canonical_bytes(entry))

    def text_digest(self, text: str) -> str:
        """Of an erased text (64 hex characters). With a key, only who has the key can tell which text it was."""
        return self._digest(b"text\n" + text.encode("utf-8", "surrogatepass"))

    def seal(self, content: dict[str, object]) -> str:
        """Of what a write came with and where it stands among the others (64 hex characters): `rows.sealed`."""
        return self._digest(b"write\n" + canonical_json(content).encode("utf-8", "surrogatepass"))

    def _digest(self, message: bytes) -> str:
        message = _FORMAT + b"\n" + message
        if self._key is None:
            return hashlib.sha256(message).hexdigest()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()
