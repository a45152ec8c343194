"""The verifiers of one deployment, each built once: in roles, as stages of a cascade, behind the result cache."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from admission.errors import SettingsError
from admission.verifiers import CASCADE, CHAT, LOCAL
from admission.verifiers.cached import CachedVerifier
from admission.verifiers.cascade import CascadeVerifier
from admission.verifiers.protocol import Verifier
from admission.verifiers.unavailable import UnavailableVerifier

if TYPE_CHECKING:
    from admission.verifiers.result_cache import ResultCache

FIRST_STAGE = ("entailment", "alignment")


class Assembly:
    """Makes verifiers of kinds with `build`, which knows the plain ones.

    A kind in two roles, or in a role and in a cascade, is one object: one set of bounds on a model, one loaded network.
    `models` are the sections that `cascade:` asks as `chat:`; any other it asks as `local:`. Chat verifiers answer from
    `cache` where there is one; embedded and local ones compute, which costs no call.
    """

    def __init__(
        self, build: Callable[[str], Verifier], models: Collection[str] = (), cache: ResultCache | None = None
    ) -> None:
        self._build = build
        self._models = models
        self._cache = cache
        self._plain: dict[str, Verifier] = {}
        self._judges: dict[str, Verifier] = {}

    def plain(self, kind: str) -> Verifier:
        """The verifier of a plain kind itself, before any cache."""
        if kind not in self._plain:
            self._plain[kind] = self._build(kind)
        return self._plain[kind]

    def judge(self, kind: str) -> Verifier:
        """The verifier that judges as this kind, `cascade:NAME` among them."""
        if kind not in self._judges:
            self._judges[kind] = self._judge(kind)
        return self._judges[kind]

    def _judge(self, kind: str) -> Verifier:
        if kind.startswith(CASCADE):
            name = kind.removeprefix(CASCADE)
            asked = (CHAT if name in self._models else LOCAL) + name
            return CascadeVerifier(kind, [self.judge(first) for first in FIRST_STAGE], self.judge(asked))
        verifier = self.plain(kind)
        paid = kind.startswith(CHAT) and not isinstance(verifier, UnavailableVerifier)
        return CachedVerifier(verifier, self._cache) if paid and self._cache is not None else verifier


def result_cache(folder: Path | None, size_mb: int) -> ResultCache | None:
    """The result cache in `folder`, or None without one. Raises `SettingsError` where diskcache is not installed."""
    if folder is None:
        return None
    try:
        from admission.verifiers.result_cache import ResultCache
    except ImportError as error:
        raise SettingsError("cache.folder", f"needs diskcache ({error})", "install memory-admission[cache]") from error
    return ResultCache(folder, size_mb)
