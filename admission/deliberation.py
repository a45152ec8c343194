"""Judging one memory as a generator without I/O: it yields rounds of requests, is sent answers, returns a report."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from admission.counterfactual import Challenge, Trial, before_check, check_reasons
from admission.eligibility import admissible
from admission.evidence import citation_view, expanded_view, later_mentions, support_subsets
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
    VerificationView,
    View,
    Views,
    digest,
)
from admission.settings import EvidenceSettings, PolicyRule
from admission.text import disguise, words
from admission.verdict import NO_CLAIM, Verdict, verdict_on

JudgeRole = Literal["verifier_a", "verifier_b", "adjudicator"]
ROLES: tuple[JudgeRole, ...] = ("verifier_a", "verifier_b", "adjudicator")

# Labels on the citations that these labels on more passages leave as they were.
UNDISTURBED = frozenset({("contradicted", "insufficient"), ("supported", "insufficient"), ("supported", "supported")})
# A longer memory is a list of statements rather than one: only its parts are judged.
WHOLE_WORDS = 40
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
    """What a deployment's settings and judges say about one deliberation.

    `whole`: the memory itself is one more obligation beside its parts (`Verifier.reads_whole`). `counterfactual`: what
    is supported must not be so without its evidence (`verification.counterfactual`).
    """

    evidence: EvidenceSettings
    view: VerificationView
    whole: bool
    policy: tuple[PolicyRule, ...]
    adjudicated: bool
    config_digest: str
    counterfactual: bool


def deliberate(candidate: Candidate, history: History, rules: Rules) -> Deliberation:
    """Judge `candidate` by what `history` (the turns before the write) says. Source: DerivAudit, the gate step by step.

    The citations are looked at first; only what they leave open is put to the expanded view. For what is supported, the
    smallest set of passages that still supports it is sought: those sets are a repaired memory's citations. With
    `rules.counterfactual`, support that stays without its evidence is taken back.
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
        # Of each obligation: the roles that found support in what was shown, and the turns it was found on.
        self.supporters: dict[str, tuple[JudgeRole, ...]] = {}
        self.found_on: dict[str, set[str]] = {}

    def run(self) -> Deliberation:
        self.obligations = yield from self._split()
        yield from self._examine([self._question(o, self.cited) for o in self.obligations])
        if self.obligations and self.rules.evidence.setting == "expanded":
            yield from self._look_further()
        yield from self._trace()
        if self.rules.counterfactual:
            yield from self._challenge()
        return self._report()

    def _look_further(self) -> Generator[Round, Sequence[Answer], None]:
        """Open obligations on the whole expanded view; supported ones only on what was said of them after the
        citations, for the latest word counts."""
        bounds = self.rules.evidence
        view = expanded_view(
            self.history, self.candidate, self.obligations, retrieved=bounds.retrieved, total=bounds.total
        )
        supported = [o for o in self.obligations if self.findings[o.id].label == "supported"]
        still_open = [o for o in self.obligations if o not in supported]
        if still_open and set(view.passages) - set(self.cited.passages):
            self.expanded = view
            yield from self._examine([self._question(o, view) for o in still_open])
        later = [q for o in supported if (q := self._later_question(o, view)) is not None]
        if later and self.expanded is None:
            shown = {passage.id for question in later for passage in question.passages}
            self.expanded = view.model_copy(update={"passages": tuple(p for p in view.passages if p.id in shown)})
        yield from self._examine(later)

    def _later_question(self, obligation: Obligation, view: View) -> Question | None:
        later = later_mentions(view, self.cited, obligation.text)
        shown = {passage.id for passage in (*self.cited.passages, *later)}
        narrowed = view.model_copy(update={"passages": tuple(p for p in view.passages if p.id in shown)})
        question = self._question(obligation, narrowed)
        return question if len(question.passages) > len(self.shown[obligation.id]) else None

    def _split(self) -> Generator[Round, Sequence[Answer], tuple[Obligation, ...]]:
        (answer,) = yield (Split(self.candidate),)
        obligations = tuple(o for o in answer if isinstance(o, Obligation))
        if not obligations:
            return ()
        memory = Obligation(id="o1", text=self.candidate.memory, type="fact")
        if self.rules.view == "holistic":
            return (memory,)
        found = cover(self.candidate.memory, obligations)
        if self.rules.view == "atomic_claims":
            # A memory that is nothing but a relation or a qualification still has to be asked for.
            return tuple(o for o in found if o.type == "fact") or (memory,)
        return (*found, *self._as_a_whole(found))

    def _as_a_whole(self, parts: Sequence[Obligation]) -> tuple[Obligation, ...]:
        """The memory itself beside its parts, where the judges ask for it: what joins true parts may be unsaid."""
        memory = self.candidate.memory
        if not self.rules.whole or len(parts) < 2 or len(words(memory)) > WHOLE_WORDS:
            return ()
        if any(words(part.text) == words(memory) for part in parts):  # what relates its parts is the memory itself
            return ()
        return (Obligation(id=f"o{len(parts) + 1}", text=memory, type="relation"),)

    def _examine(self, asked: Sequence[Question]) -> Generator[Round, Sequence[Answer], None]:
        """Both verifiers on each question, a blind third where they differ.

        No call is spent where no passage may be evidence for the obligation, or where the view shows it nothing new.
        """
        questions = [q for q in asked if q.passages != self.shown.get(q.obligation.id, ())]
        first, second = yield from _ask(Ask("verifier_a", tuple(questions)), Ask("verifier_b", tuple(questions)))
        pairs = list(zip(questions, first, second, strict=True))
        disputed = [q for q, a, b in pairs if settle(a, b) is None] if self.rules.adjudicated else []
        (answers,) = yield from _ask(Ask("adjudicator", tuple(map(blind, disputed))))
        thirds = {q.obligation.id: answer for q, answer in zip(disputed, answers, strict=True)}
        for question, a, b in pairs:
            third = thirds.get(question.obligation.id)
            settled = settle(a, b) or adjudicate(a, b, third)
            self._record(question, settled, (a, b) if third is None else (a, b, third))
        for question in asked:
            if question.obligation.id not in self.findings:
                self._record(question, Settled("insufficient", "none"), ())

    def _question(self, obligation: Obligation, view: View) -> Question:
        passages = admissible(view.passages, obligation.text, self.history)
        return Question(obligation=obligation, memory=self.candidate.memory, view=view.name, passages=passages)

    def _record(self, question: Question, settled: Settled, judgments: tuple[Judgment, ...]) -> None:
        """The newest view decides; the judgments of an earlier one are kept with it.

        But what the citations contradict is not undone by more passages in which nothing is found either way, and what
        they support stays so unless what was said later speaks against it.
        """
        id = question.obligation.id
        before = self.findings.get(id)
        earlier = before.judgments if before is not None else ()
        if before is not None and (before.label, settled.label) in UNDISTURBED:
            self.findings[id] = before.model_copy(update={"judgments": (*earlier, *judgments)})
            return
        agreeing = [j for j in judgments if j.outcome == "judged" and j.label == settled.label != "insufficient"]
        self.shown[id] = question.passages
        self.supporters[id] = tuple(r for r, j in zip(ROLES, judgments, strict=False) if j.label == "supported")
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
                self.found_on[id] = {*self._named(finding), *(turn for turns in sets for turn in turns)}
                self.findings[id] = finding.model_copy(update={"evidence": smallest})

    def _named(self, finding: Finding) -> tuple[str, ...]:
        """The turns the judges relied on, or all they were shown where they named none."""
        return finding.evidence or View(name=finding.view, passages=self.shown[finding.id]).turn_ids

    def _smaller(self, finding: Finding) -> list[Question]:
        """The obligation on sets of passages smaller than what was shown."""
        asked = self._asked(finding)
        shown = View(name=asked.view, passages=asked.passages)
        return [
            asked.model_copy(update={"passages": subset})
            for subset in support_subsets(shown, self._named(finding), SUBSETS_TRIED)
            if len(subset) < len(shown.passages)
        ]

    def _asked(self, finding: Finding) -> Question:
        """The question whose answers made the finding."""
        obligation = Obligation(id=finding.id, text=finding.text, type=finding.type)
        passages = self.shown[finding.id]
        return Question(obligation=obligation, memory=self.candidate.memory, view=finding.view, passages=passages)

    def _challenge(self) -> Generator[Round, Sequence[Answer], None]:
        """Take back support that stays where its evidence is not: such a verdict rests on plausibility.

        Those whose word made an obligation supported are asked again without the passages it was found on, and on
        unrelated ones in their place; see `Challenge`.
        """
        challenges = {
            id: Challenge(self._asked(finding), self.found_on[id], self.supporters[id], self.history)
            for id, finding in self.findings.items()
            if finding.label == "supported"
        }
        while trials := {id: found for id, challenge in challenges.items() if (found := challenge.trials())}:
            asked = [trial for found in trials.values() for trial in found]
            answers = yield from _ask(*(Ask(role, _for(role, asked)) for role in ROLES))
            waiting: dict[str, Iterator[Judgment]] = dict(zip(ROLES, map(iter, answers), strict=True))
            for id, found in trials.items():
                challenges[id].hear([(trial, next(waiting[trial.judge])) for trial in found])
        self.findings |= {id: challenge.outcome(self.findings[id]) for id, challenge in challenges.items()}

    def _report(self) -> Report:
        findings = tuple(self.findings[o.id] for o in self.obligations)
        candidate = self.candidate
        verdict = verdict_on(tuple(map(before_check, findings))) if findings else NO_CLAIM
        verdict = _with_check(verdict, findings)
        disguised = disguise(candidate.memory)
        if disguised is not None and findings:
            # What a person would read in it is not what was judged.
            reasons = (f"disguised_text: the memory holds {disguised}", *verdict.reasons)
            verdict = Verdict("unresolved", False, reasons)
        reasons = (
            *verdict.reasons,
            *(f"citation_invalid: {id} names no turn before the write" for id in self.invalid),
            *(f"citation_ineligible: {id} may not be evidence" for id in self.ineligible),
            *(("no_history: there is no conversation before the write",) if not self.history.turns else ()),
        )
        return Report.on(
            candidate,
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
            return tuple(id for id in dict.fromkeys(self.candidate.citations) if id not in worthless)
        evidence = {turn for finding in self.findings.values() for turn in finding.evidence}
        return tuple(turn for turn in dict.fromkeys(p.turn_id for p in self._passages()) if turn in evidence)

    def _passages(self) -> tuple[Passage, ...]:
        shown = {p.id: p for view in (self.cited, self.expanded) if view is not None for p in view.passages}
        return tuple(sorted(shown.values(), key=lambda p: (p.position, p.start)))


def input_digest(candidate: Candidate, history: History) -> str:
    """Digest of everything a verdict depends on besides the configuration."""
    return digest({"candidate": candidate.model_dump(mode="json"), "history": history.digest})


def _for(role: JudgeRole, trials: Sequence[Trial]) -> tuple[Question, ...]:
    """The questions of those trials that go to this role, as it sees them."""
    questions = (trial.question for trial in trials if trial.judge == role)
    return tuple(blind(q) if role == "adjudicator" else q for q in questions)


def _with_check(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """The verdict with what the counterfactual check has to say; only a contradiction comes before it."""
    said = tuple(check_reasons(findings))
    first, last = (verdict.reasons, said) if verdict.status == "contradicted" else (said, verdict.reasons)
    return verdict._replace(reasons=(*first, *last))


def _ask(*asks: Ask) -> Generator[Round, Sequence[Answer], list[list[Judgment]]]:
    """One round of the requests that ask anything; an empty list of judgments for each that does not."""
    asking = tuple(ask for ask in asks if ask.questions)
    answers: Iterator[Answer] = iter((yield asking) if asking else ())
    return [[j for j in next(answers) if isinstance(j, Judgment)] if ask.questions else [] for ask in asks]
