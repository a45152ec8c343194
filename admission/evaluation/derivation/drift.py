"""Drift of times and modalities over rounds of rewriting, measured by rule against the turns that memories rest on.

Method: DerivAudit, "drift" over repeated extraction and consolidation. No model measures: the checks of the embedded
verifiers read dates, clock times and modalities, sentence by sentence (`admission.verifiers.checks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from admission.evaluation.derivation.drift_words import timeless
from admission.evaluation.derivation.drift_writers import Remembered
from admission.evaluation.paired import Interval, group_gap
from admission.evaluation.statistics import proportion
from admission.records import Passage, Record
from admission.reports.summary import Proportion
from admission.text import sentences
from admission.verifiers.checks import (
    Evidence,
    Text,
    check_clock,
    check_dates,
    check_modality,
    gather,
    read,
)
from admission.verifiers.checks.clauses import clauses
from admission.verifiers.checks.dates import dates
from admission.verifiers.checks.reading import overlap, read_passages

_FACT = "fact"


class PublishedDrift(NamedTuple):
    """One model's shares of drifted memories at extraction and after round 4: times, then modalities."""

    model: str
    time: tuple[float, float]
    modality: tuple[float, float]


PUBLISHED = (
    PublishedDrift("Gemma-4-31B", (0.084, 0.697), (0.158, 0.781)),
    PublishedDrift("Qwen3-30B-A3B", (0.070, 0.911), (0.120, 0.926)),
)


class Drift(NamedTuple):
    """Whether a memory tells another time, and another modality, than its turns. None: neither side has any."""

    time: bool | None
    modality: bool | None

    @property
    def faithful(self) -> bool:
        return not self.time and not self.modality


class Traced(NamedTuple):
    """A memory of a round with its drift; None where no turn it rests on may count as evidence. `kept`: what the gate
    decided, where one stands between the rounds."""

    memory: Remembered
    drift: Drift | None
    kept: bool | None = None


def drift_of(text: str, passages: Sequence[Passage]) -> Drift | None:
    """How the memory `text` differs from the passages it rests on; None without passages.

    Each sentence is held against the passages' sentence that it shares most words with. Its time has drifted where it
    tells a day or hour that they do not, or none where that sentence tells one; its modality where it tells as a fact
    what they plan, wish for or hold possible, or the other way round, or one of these as another.
    """
    shown = read_passages(passages)
    if not shown:
        return None
    # Laid beside each other without their times, so that a memory that loses its time is not laid elsewhere.
    bare = tuple(replace(sentence, body=read(timeless(sentence.body.text))) for sentence in shown)
    found = []
    for start, end in sentences(text):
        statement, body = read(text[start:end]), read(timeless(text[start:end]))
        shares = [overlap(body, sentence) for sentence in bare]
        found.append(Drift(_time(statement, gather(statement, shown, shares)), _modality(body, gather(body, bare))))
    return Drift(_any([one.time for one in found]), _any([one.modality for one in found]))


def _time(statement: Text, evidence: Evidence) -> bool | None:
    anchor = evidence.anchor
    told = dates(statement.text, anchor.when)
    source = dates(anchor.body.text, anchor.when)
    if not told:
        return True if source else None
    checks = [check for check in (check_dates(told, evidence), check_clock(told, evidence)) if check is not None]
    if checks:
        return any(check.state != "ok" for check in checks)
    # "Every Monday" names no day: only its words can be compared.
    said = {when.text.casefold() for sentence in evidence.ordered for when in dates(sentence.body.text, sentence.when)}
    return any(when.text.casefold() not in said for when in told)


def _modality(statement: Text, evidence: Evidence) -> bool | None:
    """By two readings, which err in different places: the modes of the clauses that share most words, and the
    verifiers' check of whole sentences. Only where both see another modality has it drifted. Texts come without their
    times: "in May" is no "may"."""
    told = [clause for sentence in evidence.ordered for clause in _clauses(sentence.body)]
    found: list[bool] = []
    for stems, mode in _clauses(statement):
        shared = [len(stems & others) for others, _ in told]
        most = max(shared, default=0)
        modes = {other for share, (_, other) in zip(shared, told, strict=True) if share == most} if most else set()
        if modes - {_FACT} or (modes and mode != _FACT):
            found.append(mode not in modes)
    if not any(found):
        return False if found else None
    check = check_modality(statement, evidence)
    return check is not None and check.state != "ok"


def _clauses(body: Text) -> list[tuple[frozenset[str], str]]:
    """Content stems and mode of each clause."""
    return [
        (frozenset(word.stem for word in body.words[one.first : one.last] if word.content), one.mode)
        for one in clauses(body.text)
    ]


def _any(found: Sequence[bool | None]) -> bool | None:
    known = [one for one in found if one is not None]
    return any(known) if known else None


class RoundFigures(Record):
    """One round, with the gate between rounds (`gated`) or without.

    `memories`: in the store after it; `untraced`: of these, those no turn of which may be evidence. `time`, `modality`:
    shares that drifted, of those that tell one or whose turns do, with exact 95 % intervals. `stopped`: of the drifted
    ones put to the gate, those it kept out; `let_in`: of the faithful ones, those it let in.
    """

    round: int
    gated: bool
    memories: int
    untraced: int
    time: Proportion
    modality: Proportion
    stopped: Proportion | None = None
    let_in: Proportion | None = None


class Difference(Record):
    """Drift after the last round with the gate less without it, with a 95 % bootstrap interval over conversations."""

    kind: str
    difference: Interval


class DriftFigures(Record):
    """All rounds, the last one compared, and how many answers of the writer held no memory."""

    writer: str
    conversations: int
    rounds: tuple[RoundFigures, ...]
    differences: tuple[Difference, ...]
    unusable: int


def round_figures(number: int, traced: Sequence[Traced], *, gated: bool) -> RoundFigures:
    """The figures of one round; of a gated one, of the memories that were kept."""
    kept = [one for one in traced if not gated or one.kept]
    judged = [one for one in traced if one.drift is not None] if gated else []
    stopped = [not one.kept for one in judged if one.drift is not None and not one.drift.faithful]
    let_in = [bool(one.kept) for one in judged if one.drift is not None and one.drift.faithful]
    return RoundFigures(
        round=number,
        gated=gated,
        memories=len(kept),
        untraced=sum(one.drift is None for one in kept),
        time=_share([value for value, _ in _values(kept, "time")]),
        modality=_share([value for value, _ in _values(kept, "modality")]),
        stopped=_share(stopped) if gated else None,
        let_in=_share(let_in) if gated else None,
    )


def differences(gated: Sequence[Traced], ungated: Sequence[Traced]) -> tuple[Difference, ...]:
    """The last round in both ways, compared."""
    kept = [one for one in gated if one.kept]
    found = []
    for kind in ("time", "modality"):
        with_gate, without = _values(kept, kind), _values(ungated, kind)
        gap = group_gap(
            [float(value) for value, _ in with_gate],
            [group for _, group in with_gate],
            [float(value) for value, _ in without],
            [group for _, group in without],
        )
        found.append(Difference(kind=kind, difference=gap))
    return tuple(found)


def _values(traced: Sequence[Traced], kind: str) -> list[tuple[bool, str]]:
    """Whether each drifted in this kind, and its conversation; those with nothing to drift in are left out."""
    told = [(None if one.drift is None else getattr(one.drift, kind), one.memory.conversation) for one in traced]
    return [(value, group) for value, group in told if value is not None]


def _share(found: Sequence[bool]) -> Proportion:
    return proportion(sum(found), len(found))
