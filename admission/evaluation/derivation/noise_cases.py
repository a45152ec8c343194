"""Memories with more true obligations beside their own: what is asked, drawn and shown, the same at every number."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from admission.decomposition import RuleDecomposer
from admission.evaluation.derivation.cases import Case
from admission.evidence import citation_view, expanded_view
from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Account, Obligation, ObligationType, Passage, Question, Report, ViewName
from admission.settings import EvidenceSettings
from admission.text import words
from admission.verifiers.scripted import ScriptedVerifier

EXTRAS = (0, 2, 4)
"""How many true obligations are added to a memory's own."""


class TrueStatement(NamedTuple):
    """A statement that its history supports, the turns it rests on, and the write that it is an obligation of."""

    text: str
    type: ObligationType
    evidence: frozenset[str]
    write: str


Pool = Mapping[str, Sequence[TrueStatement]]
"""By conversation."""


class NoiseCase(NamedTuple):
    """A memory, its own obligations and the true ones added, and the passages that are shown whatever is asked."""

    case: Case
    own: tuple[Obligation, ...]
    added: tuple[Obligation, ...]
    view: ViewName
    passages: tuple[Passage, ...]

    def questions(self, extra: int) -> tuple[Question, ...]:
        """The memory's own obligations, then `extra` of the added ones: one call of a judge that asks together."""
        account = Account(candidate=self.case.candidate.id, number=extra)
        return tuple(
            Question(
                obligation=obligation,
                memory=self.case.candidate.memory,
                view=self.view,
                passages=self.passages,
                people=self.case.history.people,
                account=account,
            )
            for obligation in (*self.own, *self.added[:extra])
        )


def stated_by_references(cases: Iterable[Case]) -> Pool:
    """The obligations that references call supported by the history, with their evidence."""
    found: dict[str, list[TrueStatement]] = defaultdict(list)
    for case in cases:
        for item in case.reference.get("obligations") or ():
            if item.get("label", item.get("history")) == "supported" and item.get("evidence"):
                type = item.get("type", "fact")
                found[case.group].append(
                    TrueStatement(item["text"], type, frozenset(item["evidence"]), case.candidate.id)
                )
    return found


def found_by_gate(reports: Iterable[Report]) -> Pool:
    """The obligations that a gate found supported: for data without references."""
    found: dict[str, list[TrueStatement]] = defaultdict(list)
    for report in reports:
        for one in report.obligations:
            if one.label == "supported" and one.evidence:
                found[report.conversation].append(TrueStatement(one.text, one.type, frozenset(one.evidence), report.id))
    return found


def own_obligations(gate: AdmissionGate, cases: Sequence[Case]) -> list[tuple[Obligation, ...]]:
    """What a gate with these judges asks about each memory, in order; nothing where a memory claims nothing.

    Memories are split by rule, whatever the deployment's decomposer: no judge and no model is asked.
    """
    silent = [ScriptedVerifier(name, lambda _: (0.0, 0.0)) for name in ("a", "b", "c")]
    silent[0].reads_whole = any(judge.reads_whole for judge in gate.verifiers.values())
    splitter = AdmissionGate(
        gate.settings, verifier_a=silent[0], verifier_b=silent[1], adjudicator=silent[2], decomposer=RuleDecomposer()
    )
    reports = splitter.decide_many([(case.candidate, case.history) for case in cases])
    return [tuple(Obligation(id=one.id, text=one.text, type=one.type) for one in r.obligations) for r in reports]


def with_true_ones(
    case: Case, own: tuple[Obligation, ...], pool: Pool, bounds: EvidenceSettings, seed: int
) -> NoiseCase | None:
    """The case with as many true obligations of the same history as there are to be at most, drawn with `seed`.

    They are of other writes, in other words than the memory's own, and rest on turns before this write. Those turns are
    shown with the memory's view, within the same bounds, and at every number of obligations: nothing changes but what
    is asked. All that is shown is shown for each obligation, as one prompt must; what a gate holds back from some
    (`eligibility`) is not measured here. None where the history has too few, or the memory claims nothing.
    """
    drawn = _drawn(case, own, pool, bounds, seed)
    if not own or len(drawn) < EXTRAS[-1]:
        return None
    evidence = _passages(case.history, drawn)
    room = bounds.total - len(evidence)
    if bounds.setting == "citation_only":
        view, _, _ = citation_view(case.history, case.candidate, limit=room)
    else:
        view = expanded_view(case.history, case.candidate, own, retrieved=bounds.retrieved, total=room)
    shown = {passage.id: passage for passage in (*view.passages, *evidence)}
    passages = tuple(sorted(shown.values(), key=lambda passage: (passage.position, passage.start)))
    added = tuple(
        Obligation(id=f"o{len(own) + place}", text=one.text, type=one.type) for place, one in enumerate(drawn, 1)
    )
    return NoiseCase(case, own, added, view.name, passages)


def _drawn(
    case: Case, own: Sequence[Obligation], pool: Pool, bounds: EvidenceSettings, seed: int
) -> list[TrueStatement]:
    """Statements that can be added: of other writes, said before this one, and with room for what they rest on."""
    listed = pool.get(case.group, ())
    order = random.Random(f"{seed} {case.group} {case.candidate.id}").sample(range(len(listed)), len(listed))
    cited, _, _ = citation_view(case.history, case.candidate, limit=bounds.total)
    said = {tuple(words(text)) for text in (case.candidate.memory, *(one.text for one in own))}
    drawn: list[TrueStatement] = []
    for statement in (listed[place] for place in order):
        if len(drawn) == EXTRAS[-1]:
            break
        if statement.write == case.candidate.id or tuple(words(statement.text)) in said:
            continue
        if not all(case.history.contains(turn) and case.history.passages_of(turn) for turn in statement.evidence):
            continue
        if len(_passages(case.history, [*drawn, statement])) + len(cited.passages) > bounds.total:
            continue
        said.add(tuple(words(statement.text)))
        drawn.append(statement)
    return drawn


def _passages(history: History, statements: Iterable[TrueStatement]) -> list[Passage]:
    turns = sorted({turn for statement in statements for turn in statement.evidence})
    return [passage for turn in turns for passage in history.passages_of(turn)]
