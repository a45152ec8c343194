"""Judging one memory as a generator without I/O: it yields rounds of requests, is sent answers, returns a report."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from admission.eligibility import admissible
from admission.evidence import citation_view, expanded_view, support_subsets
from admission.history import History
from admission.obligations import cover
from admission.panel import Settled, adjudicate, blind, settle
from admission.policy import action_for
from admission.records import (
    Candidate,
    Citations,
    Finding,
    Judgment,
    Obligation,
    Passage,
    Question,
    Report,
    Status,
    View,
    Views,
    digest,
)
from admission.settings import EvidenceSettings, PolicyRule, VerificationView
from admission.verdict import NO_CLAIM, verdict_on

JudgeRole = Literal["verifier_a", "verifier_b", "adjudicator"]

# How many smaller sets of passages are tried for one supported obligation when its minimal evidence is sought.
SUBSETS_TRIED = 6


class Split(NamedTuple):
    """Request: split this memory into obligations. Answered by obligations; none where it claims nothing."""

    candidate: Candidate


class Ask(NamedTuple):
    """Request: the judge in this role answers these questions. Answered by one judgment a question, in order."""

    role: JudgeRole
    questions: tuple[Question, ...]


Request = Split | Ask
Round = tuple[Request, ...]
Answer = Sequence[Obligation] | Sequence[Judgment]
Deliberation = Generator[Round, Sequence[Answer], Report]


@dataclass(frozen=True)
class Rules:
    """What a deployment's settings say about one deliberation."""

    evidence: EvidenceSettings
    view: VerificationView
    policy: tuple[PolicyRule, ...]
    adjudicated: bool
    config_digest: str


def deliberate(candidate: Candidate, history: History, rules: Rules) -> Deliberation:
    """Judge `candidate` by what `history` (the turns before the write) says. Source: DerivAudit, the gate step by step.

    The citations are looked at first; only what they leave open is put to the expanded view. For what is supported, the
    smallest set of passages that still supports it is sought: those sets are a repaired memory's citations.
    """
    return (yield from _Case(candidate, history, rules).run())


class _Case:
    """One deliberation in progress: what is known so far about each obligation."""

    def __init__(self, candidate: Candidate, history: History, rules: Rules) -> None:
        self.candidate = candidate
        self.history = history
        self.rules = rules
        self.cited, self.invalid, self.ineligible = citation_view(history, candidate, limit=rules.evidence.total)
        self.expanded: View | None = None
        self.obligations: tuple[Obligation, ...] = ()
        self.findings: dict[str, Finding] = {}
        self.shown: dict[str, tuple[Passage, ...]] = {}

    def run(self) -> Deliberation:
        self.obligations = yield from self._split()
        yield from self._examine(self.obligations, self.cited)
        still_open = [o for o in self.obligations if self.findings[o.id].label != "supported"]
        if still_open and self.rules.evidence.setting == "expanded":
            bounds = self.rules.evidence
            self.expanded = expanded_view(
                self.history, self.candidate, self.obligations, retrieved=bounds.retrieved, total=bounds.total
            )
            if set(self.expanded.passages) - set(self.cited.passages):
                yield from self._examine(still_open, self.expanded)
        yield from self._trace()
        return self._report()

    def _split(self) -> Generator[Round, Sequence[Answer], tuple[Obligation, ...]]:
        (answer,) = yield (Split(self.candidate),)
        obligations = tuple(o for o in answer if isinstance(o, Obligation))
        if obligations and self.rules.view == "holistic":
            return (Obligation(id="o1", text=self.candidate.memory, type="fact"),)
        return cover(self.candidate.memory, obligations) if obligations else ()

    def _examine(self, obligations: Sequence[Obligation], view: View) -> Generator[Round, Sequence[Answer], None]:
        """Both verifiers on each obligation, a blind third where they differ.

        No call is spent where no passage may be evidence for the obligation, or where the view shows it nothing new.
        """
        questions = [q for o in obligations if (q := self._question(o, view)).passages != self.shown.get(o.id, ())]
        first, second = yield from _ask(Ask("verifier_a", tuple(questions)), Ask("verifier_b", tuple(questions)))
        pairs = list(zip(questions, first, second, strict=True))
        disputed = [q for q, a, b in pairs if settle(a, b) is None] if self.rules.adjudicated else []
        (answers,) = yield from _ask(Ask("adjudicator", tuple(map(blind, disputed))))
        thirds = {q.obligation.id: answer for q, answer in zip(disputed, answers, strict=True)}
        for question, a, b in pairs:
            third = thirds.get(question.obligation.id)
            settled = settle(a, b) or adjudicate(a, b, third)
            self._record(question, settled, (a, b) if third is None else (a, b, third))
        for obligation in obligations:
            if obligation.id not in self.findings:
                self._record(self._question(obligation, view), Settled("insufficient", "none"), ())

    def _question(self, obligation: Obligation, view: View) -> Question:
        passages = admissible(view.passages, obligation.text, self.history)
        return Question(obligation=obligation, memory=self.candidate.memory, view=view.name, passages=passages)

    def _record(self, question: Question, settled: Settled, judgments: tuple[Judgment, ...]) -> None:
        """The newest view decides; the judgments of an earlier one are kept with it.

        But what the citations contradict is not undone by more passages in which nothing is found either way.
        """
        id = question.obligation.id
        before = self.findings.get(id)
        earlier = before.judgments if before is not None else ()
        if before is not None and (before.label, settled.label) == ("contradicted", "insufficient"):
            self.findings[id] = before.model_copy(update={"judgments": (*earlier, *judgments)})
            return
        agreeing = [j for j in judgments if j.outcome == "judged" and j.label == settled.label != "insufficient"]
        self.shown[id] = question.passages
        self.findings[id] = Finding(
            **question.obligation.model_dump(),
            label=settled.label,
            view=question.view,
            evidence=tuple(dict.fromkeys(turn for j in agreeing for turn in j.evidence)),
            resolved_by=settled.resolved_by,
            judgments=(*earlier, *judgments),
        )

    def _trace(self) -> Generator[Round, Sequence[Answer], None]:
        """Give each supported obligation the smallest set of passages that still supports it.

        The judges whose word made it supported are asked again on smaller sets, all in one round; a set holds if all of
        them still find support in it. Where none holds, what they named (or else all they were shown) stays.
        """
        agreed: list[Question] = []
        ruled: list[Question] = []
        for finding in self.findings.values():
            if finding.label == "supported":
                trials = agreed if finding.resolved_by == "agreement" else ruled
                trials.extend(self._smaller(finding))
        first, second, third = yield from _ask(
            Ask("verifier_a", tuple(agreed)),
            Ask("verifier_b", tuple(agreed)),
            Ask("adjudicator", tuple(map(blind, ruled))),
        )
        holding = [q for q, a, b in zip(agreed, first, second, strict=True) if a.label == b.label == "supported"]
        holding += [q for q, c in zip(ruled, third, strict=True) if c.label == "supported"]
        for id, finding in self.findings.items():
            if finding.label == "supported":
                sets = [q.turn_ids for q in holding if q.obligation.id == id]
                smallest = min(sets, key=len) if sets else self._named(finding)
                self.findings[id] = finding.model_copy(update={"evidence": smallest})

    def _named(self, finding: Finding) -> tuple[str, ...]:
        """The turns the judges relied on, or all they were shown where they named none."""
        return finding.evidence or View(name=finding.view, passages=self.shown[finding.id]).turn_ids

    def _smaller(self, finding: Finding) -> list[Question]:
        """The obligation on sets of passages smaller than what was shown."""
        obligation = Obligation(id=finding.id, text=finding.text, type=finding.type)
        shown = View(name=finding.view, passages=self.shown[finding.id])
        return [
            Question(obligation=obligation, memory=self.candidate.memory, view=finding.view, passages=subset)
            for subset in support_subsets(shown, self._named(finding), SUBSETS_TRIED)
            if len(subset) < len(shown.passages)
        ]

    def _report(self) -> Report:
        findings = tuple(self.findings[o.id] for o in self.obligations)
        verdict = verdict_on(findings) if findings else NO_CLAIM
        candidate = self.candidate
        reasons = (
            *verdict.reasons,
            *(f"citation_invalid: {id} names no turn before the write" for id in self.invalid),
            *(f"citation_ineligible: {id} may not be evidence" for id in self.ineligible),
            *(("no_history: there is no conversation before the write",) if not self.history.turns else ()),
        )
        return Report(
            id=candidate.id,
            conversation=candidate.conversation,
            namespace=candidate.namespace,
            memory=candidate.memory,
            written_after=candidate.written_after,
            status=verdict.status,
            action=action_for(verdict.status, verdict.conflicting, candidate.namespace, self.rules.policy),
            reasons=reasons,
            citations=Citations(
                author=candidate.citations, invalid=self.invalid, final=self._final_citations(verdict.status)
            ),
            views=Views(
                citation_only=self.cited.turn_ids, expanded=self.expanded.turn_ids if self.expanded is not None else ()
            ),
            passages=self._passages(),
            obligations=findings,
            config_digest=self.rules.config_digest,
            input_digest=input_digest(candidate, self.history),
        )

    def _final_citations(self, status: Status) -> tuple[str, ...]:
        """Of a repaired memory its minimal evidence, in conversation order; of any other the author's valid ones."""
        if status != "repaired":
            worthless = {*self.invalid, *self.ineligible}
            return tuple(id for id in self.candidate.citations if id not in worthless)
        evidence = {turn for finding in self.findings.values() for turn in finding.evidence}
        return tuple(turn for turn in dict.fromkeys(p.turn_id for p in self._passages()) if turn in evidence)

    def _passages(self) -> tuple[Passage, ...]:
        shown = {p.id: p for view in (self.cited, self.expanded) if view is not None for p in view.passages}
        return tuple(sorted(shown.values(), key=lambda p: (p.position, p.start)))


def input_digest(candidate: Candidate, history: History) -> str:
    """Digest of everything a verdict depends on besides the configuration."""
    return digest({"candidate": candidate.model_dump(mode="json"), "history": history.digest})


def _ask(*asks: Ask) -> Generator[Round, Sequence[Answer], list[list[Judgment]]]:
    """One round of the requests that ask anything; an empty list of judgments for each that does not."""
    asking = tuple(ask for ask in asks if ask.questions)
    answers: Iterator[Answer] = iter((yield asking) if asking else ())
    return [[j for j in next(answers) if isinstance(j, Judgment)] if ask.questions else [] for ask in asks]
