"""Who splits memories: rules, or a chat model held to what the memory says, with the rules behind it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from admission.errors import AdmissionError, SettingsError
from admission.obligations import split
from admission.obligations.fidelity import objections, strictly_typed, uncheckable
from admission.records import Candidate, Obligation, Usage
from admission.text import printable
from admission.verifiers import CHAT
from admission.verifiers.unavailable import UnavailableVerifier

if TYPE_CHECKING:
    from admission.verifiers import Verifier
    from admission.verifiers.chat import ChatVerifier
    from admission.verifiers.chat.decomposer import Proposal
    from admission.verifiers.chat.exchange import Rounds

RULES = "rules"
_NOTHING = Usage()


class Decomposition(NamedTuple):
    """The obligations of one memory, what asking for them cost, and a reason for the report where a model was to be
    asked and its answer is not what they are."""

    obligations: tuple[Obligation, ...]
    cost: Usage = _NOTHING
    warning: str = ""


class Decomposer(ABC):
    """Splits memories: one decomposition a candidate, in order. A memory without a claim has no obligations."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, object]:
        """What the decompositions depend on: it goes into the config digest."""

    @abstractmethod
    def decompose(self, candidates: Sequence[Candidate]) -> list[Decomposition]:
        """One decomposition a candidate, in order."""

    async def adecompose(self, candidates: Sequence[Candidate]) -> list[Decomposition]:
        """Async twin of `decompose`."""
        return self.decompose(candidates)

    def exchange(self, candidates: Sequence[Candidate]) -> Rounds[list[Decomposition]] | None:
        """The same without I/O where a language model is asked, as `Verifier.exchange`. None: it computes."""
        return None


class RuleDecomposer(Decomposer):
    """Splits by rule."""

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": RULES}

    def decompose(self, candidates: Sequence[Candidate]) -> list[Decomposition]:
        return [Decomposition(split(candidate)) for candidate in candidates]


class ModelDecomposer(Decomposer):
    """Has the model of a chat verifier split, and takes its answer only where it is faithful to the memory.

    Whether there is a claim at all is for the rules to say: no text can talk a model out of it. For whatever else goes
    wrong (no answer, a malformed one, one that says more or less than the memory) the rules split, and the report says
    why. So they do, without asking, where an answer could not be checked: another language than English, a long text.
    """

    def __init__(self, verifier: ChatVerifier) -> None:
        from admission.verifiers.chat.decomposer import ChatDecomposer

        self._asker = ChatDecomposer(verifier, objections)

    @property
    def identity(self) -> dict[str, object]:
        return self._asker.identity

    def decompose(self, candidates: Sequence[Candidate]) -> list[Decomposition]:
        ruled = _Ruled(candidates)
        return ruled.completed(self._asker.propose(ruled.asked))

    async def adecompose(self, candidates: Sequence[Candidate]) -> list[Decomposition]:
        # In threads: what a crafted text is compared with itself for takes seconds, and the loop serves others.
        ruled = await asyncio.to_thread(_Ruled, candidates)
        return await asyncio.to_thread(ruled.completed, await self._asker.apropose(ruled.asked))

    def exchange(self, candidates: Sequence[Candidate]) -> Rounds[list[Decomposition]]:
        ruled = _Ruled(candidates)
        return ruled.completed((yield from self._asker.exchange(ruled.asked)))


class UnavailableDecomposer(Decomposer):
    """Stands in for one whose model could not be set up: the rules split, and each report says why."""

    def __init__(self, kind: str, error: Exception) -> None:
        self._kind = kind
        self._error = error

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": self._kind, "unavailable": str(self._error)}

    def decompose(self, candidates: Sequence[Candidate]) -> list[Decomposition]:
        return [by_rule_instead(candidate, f"unavailable: {self._error}") for candidate in candidates]


class _Ruled:
    """Candidates split by rule; those of them that a model is asked about, and what its proposals make of them."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates
        self._by_rule = [split(candidate) for candidate in candidates]
        self._unasked = [
            uncheckable(candidate.memory) if found else ""
            for candidate, found in zip(candidates, self._by_rule, strict=True)
        ]
        rows = zip(candidates, self._by_rule, self._unasked, strict=True)
        self.asked = [candidate for candidate, found, why in rows if found and not why]

    def completed(self, proposals: Iterable[Proposal]) -> list[Decomposition]:
        waiting = iter(proposals)
        return [
            _taken(found, next(waiting)) if found and not why else _instead(found, why, _NOTHING)
            for found, why in zip(self._by_rule, self._unasked, strict=True)
        ]


def check_decomposer(setting: str, kind: str, models: Collection[str]) -> None:
    """Raise `SettingsError` naming `setting` if `kind` is no decomposer; `models` are the sections `chat:` can name."""
    if kind == RULES or (kind.startswith(CHAT) and kind.removeprefix(CHAT) in models):
        return
    known = ", ".join([repr(RULES), *(repr(CHAT + name) for name in sorted(models))])
    remedy = f"use {known}, or add a section [models.{kind.removeprefix(CHAT) if kind.startswith(CHAT) else 'NAME'}]"
    raise SettingsError(setting, f"nothing that splits memories is called {kind!r}", remedy)


def build_decomposer(kind: str, verifier_of: Callable[[str], Verifier]) -> Decomposer:
    """The decomposer of this kind; `verifier_of` has the verifiers of chat models, whose bounds and model it shares.

    One whose model cannot be set up is one that splits by rule and says so: a gate must not go down with it.
    """
    if kind == RULES:
        return RuleDecomposer()
    verifier = verifier_of(kind)
    if isinstance(verifier, UnavailableVerifier):
        return UnavailableDecomposer(kind, verifier.error)
    from admission.verifiers.chat import ChatVerifier

    if not isinstance(verifier, ChatVerifier):
        raise TypeError(f"{kind} is no chat verifier")
    try:
        return ModelDecomposer(verifier)
    except AdmissionError as error:  # the model has no structured output of the kind that the settings name
        return UnavailableDecomposer(kind, error)


def by_rule_instead(candidate: Candidate, why: str) -> Decomposition:
    """The rules' obligations where a model was to be asked; `why` (`code: detail`) becomes a reason of the report."""
    return _instead(split(candidate), why, _NOTHING)


def _taken(found: tuple[Obligation, ...], proposal: Proposal) -> Decomposition:
    if proposal.reason:
        return _instead(found, proposal.reason, proposal.cost)
    return Decomposition(strictly_typed(proposal.obligations), proposal.cost)


def _instead(found: tuple[Obligation, ...], why: str, cost: Usage) -> Decomposition:
    return Decomposition(found, cost, f"decomposition_fallback: {printable(why)}" if found and why else "")
