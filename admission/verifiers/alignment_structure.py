"""What aligns when whose doing, mode and denial have to agree as well: told clause by clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from admission.verifiers.checks.clauses import Clause, clauses
from admission.verifiers.checks.polarity import negated_places
from admission.verifiers.checks.reading import Sentence, Text, name_stems
from admission.verifiers.soft_match import Alignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

ASPECTS = ("owner", "mode", "polarity", "all")
_ASSENT = re.compile(
    r"(?:(?:oh|ah|well|ha|haha|hm+),?\s+)?(?:yes|yep|yeah|yup|aye|sure|of course|indeed|exactly|right|correct|true"
    r"|absolutely|please do|do it|go ahead|agreed|ok|okay|fine|deal|(?:i|we|he|she|it|they|that|you) (?:did|do|does|was"
    r"|were|is|are|has|have|will|would|can|could)\b)",
    re.IGNORECASE,
)
_OFFER = re.compile(r"\b(?:shall|should|would|could|can|will|may|do you want|how about|what about)\b", re.IGNORECASE)
# How far what is told in one mode (column) bears out what is claimed in another (row).
_MODES = ("fact", "plan", "wish", "chance", "question")
_MODE_FIT = np.array(
    [[1.0, 0.45, 0.2, 0.2, 0.35], [0.4, 1.0, 0.6, 0.5, 0.3], [0.3, 0.6, 1.0, 0.6, 0.3], [0.3, 0.5, 0.7, 1.0, 0.5]]
)
_FLIPPED = 0.2
_ECHO = 0.5


@dataclass(frozen=True, slots=True)
class Party:
    """Whose doing it is: `kind` is one of participant, elliptic (a participant, not named), third or thing."""

    kind: str
    called: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Told:
    """One clause said: its sentence, whose doing, in which mode, and what opens it."""

    sentence: int
    turn: str
    party: Party
    mode: str
    link: str


@dataclass(frozen=True, slots=True)
class _Shown:
    """Sentences shown, compared by `key`: several obligations are asked of the same passages."""

    key: tuple[tuple[str, str, str, str], ...]
    sentences: tuple[Sentence, ...] = field(compare=False)


@dataclass(frozen=True)
class Structure:
    """The alignment once more, with every aligned pair of words weighed by how far their clauses agree."""

    alignment: Alignment
    parties: tuple[Party, ...]
    modes: tuple[str, ...]
    told: tuple[Told, ...]
    clause_of: NDArray[np.int64]
    fits: dict[str, NDArray[np.float64]]
    weights: NDArray[np.float64]

    @cached_property
    def said(self) -> NDArray[np.float64]:
        """(words, tokens) matches with mere neighbourhood taken off."""
        return np.clip((self.alignment.token_matches - 0.3) / 0.7, 0.0, 1.0)

    @cached_property
    def turn_of(self) -> NDArray[np.int64]:
        """(tokens,) the passage each token is in."""
        return self.alignment.passage_of[[t.sentence for t in self.alignment.tokens]]

    def coverage(self, aspect: str | None = None) -> float:
        """Weighted share of the obligation's words said anywhere, where the aspect agrees."""
        return self._share(self._fitted(aspect).max(axis=1, initial=0.0))

    def by_turn(self, aspect: str | None = None) -> NDArray[np.float64]:
        """(passages,) the same by each passage alone."""
        fitted, starts = self._fitted(aspect), _starts(self.turn_of)
        out = np.zeros(len(self.alignment.cosines))
        if len(starts):
            best = np.maximum.reduceat(fitted, starts, axis=1)
            out[self.turn_of[starts]] = (best * self.weights[:, None]).sum(axis=0) / self.weights.sum()
        return out

    def by_clause(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """(len(rows), clauses) the best match of some of the obligation's words in each clause."""
        starts = _starts(self.clause_of)
        out = np.zeros((len(rows), len(self.told)))
        if len(starts) and len(rows):
            out[:, self.clause_of[starts]] = np.maximum.reduceat(self.said[list(rows)], starts, axis=1)
        return out

    def _fitted(self, aspect: str | None) -> NDArray[np.float64]:
        return self.said if aspect is None else self.said * self.fits[aspect]

    def _share(self, best: NDArray[np.float64]) -> float:
        return float((best * self.weights).sum() / self.weights.sum())


def structure(alignment: Alignment) -> Structure:
    """Reads obligation and sentences clause by clause; nothing but word lists and the order of words decides."""
    sentences = alignment.sentences
    people = _people(sentences)
    told, places = _told(_Shown(tuple((s.turn_id, s.speaker, s.role, s.body.text) for s in sentences), sentences))
    parties, modes = _claimed(alignment.statement, people)
    clause_of = np.array([places[t.sentence][t.place] for t in alignment.tokens], dtype=np.int64)
    at = {word.start: i for i, word in enumerate(alignment.statement.words)}
    rows = [at[word.start] for word in alignment.content]
    denied = negated_places(alignment.statement.text)
    mine = np.array([row in denied for row in rows], dtype=bool)
    theirs = np.array(
        [t.place in negated_places(sentences[t.sentence].body.text) for t in alignment.tokens], dtype=bool
    )
    owner = _table([parties[r] for r in rows], [told[c].party for c in clause_of])
    mode = _MODE_FIT[
        np.array([_MODES.index(modes[r]) for r in rows], dtype=np.int64)[:, None],
        np.array([_MODES.index(told[c].mode) for c in clause_of], dtype=np.int64)[None, :],
    ]
    polarity = np.where(mine[:, None] == theirs[None, :], 1.0, _FLIPPED)
    speakers = frozenset(name for s in sentences for name in name_stems(s.speaker)) | {"user", "assist"}
    weights = alignment.weights * np.array([word.stem not in speakers for word in alignment.content])
    return Structure(
        alignment=alignment,
        parties=tuple(parties[r] for r in rows),
        modes=tuple(modes[r] for r in rows),
        told=tuple(told),
        clause_of=clause_of,
        fits={"owner": owner, "mode": mode, "polarity": polarity, "all": owner * mode * polarity},
        weights=weights if weights.sum() > 0 else alignment.weights,
    )


def _starts(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(groups) else np.zeros(0, dtype=np.int64)


def _people(sentences: Sequence[Sentence]) -> dict[str, str]:
    """What each participant is called, in lower case: parts of the name, and "user" or "assistant"."""
    people: dict[str, str] = {}
    for sentence in sentences:
        people.setdefault("assistant" if sentence.role == "assistant" else "user", sentence.speaker)
        for part in sentence.speaker.lower().split():
            if len(part) > 1:
                people.setdefault(part, sentence.speaker)
    return people


def _claimed(statement: Text, people: dict[str, str]) -> tuple[list[Party], list[str]]:
    """Whose doing each word of the obligation tells, and in which mode; a clause without a subject takes the last."""
    parties, modes = [Party("thing")] * len(statement.words), ["fact"] * len(statement.words)
    party, mode = Party("thing"), "fact"
    for clause in clauses(statement.text):
        new = _party(clause, people, party)
        if new is not None:
            party = new
        mode = clause.mode if clause.mode != "fact" or clause.owner is not None else mode
        for i in range(clause.first, clause.last):
            parties[i], modes[i] = party, mode
    return parties, modes


def _party(clause: Clause, people: dict[str, str], last: Party) -> Party | None:
    """The party a clause of the obligation names; None where it names none."""
    owner = clause.owner
    if owner is None or owner.who == "thing":
        named = [people[name] for name in clause.named if name in people]
        return Party("participant", frozenset(named[:1])) if named and last.kind == "thing" else None
    if not owner.called:
        return None
    known = [people[name] for name in owner.called if name in people]
    return Party("participant", frozenset(known[:1])) if known else Party("third", owner.called)


@lru_cache(maxsize=256)
def _told(read_sentences: _Shown) -> tuple[list[Told], list[list[int]]]:
    """Every clause said, and for every sentence the clause of each of its words."""
    sentences = read_sentences.sentences
    people = _people(sentences)
    told: list[Told] = []
    places: list[list[int]] = []
    third = Party("third")
    for sentence in sentences:
        other = _addressee(sentences, sentence)
        party: Party | None = None
        mode = "fact"
        spot: list[int] = []
        for clause in clauses(sentence.body.text):
            named = _teller(clause, sentence, other, people, third)
            if named is not None and named.kind == "third" and named.called:
                third = named
            party = named or party or _implied(sentences, sentence, other)
            mode = clause.mode if clause.mode != "fact" or clause.owner is not None else mode
            shown = _asked(sentences, sentence) if sentence.question else mode
            spot.extend([len(told)] * (clause.last - clause.first))
            told.append(Told(sentence.index, sentence.turn_id, party, shown, clause.link))
        places.append(spot)
    return told, places


def _teller(clause: Clause, sentence: Sentence, other: str, people: dict[str, str], third: Party) -> Party | None:
    owner = clause.owner
    if owner is None:
        return None
    if owner.who == "speaker":
        return Party("participant", frozenset((sentence.speaker,)))
    if owner.who == "addressee":
        return Party("participant", frozenset((other,)))
    if owner.who == "thing":
        return Party("thing")
    known = [people[name] for name in owner.called if name in people]
    if known:
        return Party("participant", frozenset(known[:1]))
    return Party("third", owner.called) if owner.called else third


def _addressee(sentences: Sequence[Sentence], sentence: Sentence) -> str:
    """Who is spoken to: whoever spoke last before, or else first after."""
    before = (s.speaker for s in reversed(sentences[: sentence.index]) if s.speaker != sentence.speaker)
    after = (s.speaker for s in sentences[sentence.index + 1 :] if s.speaker != sentence.speaker)
    return next(before, next(after, ""))


def _implied(sentences: Sequence[Sentence], sentence: Sentence, other: str) -> Party:
    """Whose doing a sentence without a subject tells: the speaker's, unless it repeats what the other has just said."""
    stems = {word.stem for word in sentence.body.content}
    before = [s for s in sentences[max(0, sentence.index - 6) : sentence.index] if s.speaker != sentence.speaker]
    heard = frozenset[str]().union(*(s.body.stems for s in before)) if before else frozenset[str]()
    echo = bool(stems) and len(stems & heard) >= _ECHO * len(stems)
    return Party("elliptic", frozenset((other if echo or sentence.question else sentence.speaker,)))


def _asked(sentences: Sequence[Sentence], sentence: Sentence) -> str:
    """A question asserts nothing of itself; a "yes" at once takes its content over, as a plan where it was an offer."""
    following = next((s for s in sentences[sentence.index + 1 :] if s.speaker != sentence.speaker), None)
    if following is None or not _ASSENT.match(following.body.text):
        return "question"
    return "plan" if _OFFER.search(sentence.body.text) else "fact"


def _table(claimed: Sequence[Party], said: Sequence[Party]) -> NDArray[np.float64]:
    """(words, tokens) how far the parties agree."""
    left, right = list(dict.fromkeys(claimed)), list(dict.fromkeys(said))
    small = np.array([[agreement(a, b) for b in right] for a in left]).reshape(len(left), len(right))
    rows = np.array([left.index(a) for a in claimed], dtype=np.int64)
    columns = np.array([right.index(b) for b in said], dtype=np.int64)
    return small[rows[:, None], columns[None, :]] if len(columns) else np.zeros((len(rows), 0))


def agreement(claimed: Party, said: Party) -> float:
    """In [0, 1]: how far what is told of `said` can be about `claimed`."""
    if claimed.kind == "thing":
        return 1.0
    if said.kind == "thing":
        return 0.6
    same = bool(claimed.called & said.called)
    if claimed.kind == "participant":
        if said.kind == "third":
            return 0.1 if said.called else 0.35
        return 1.0 if same else 0.35 if said.kind == "elliptic" else 0.0
    if said.kind == "third":
        return 1.0 if same else 0.2 if said.called else 0.7
    return 0.4 if said.kind == "elliptic" else 0.15
