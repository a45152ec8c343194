"""Judging one memory as a generator without I/O: it yields rounds of requests, is sent answers, returns a report."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from admission.counterfactual import Challenge, before_check, check_reasons
from admission.eligibility import admissible
from admission.evidence import citation_view, expanded_view, later_mentions, read_together, with_later_mentions
from admission.history import History
from admission.minimal_evidence import Search
from admission.obligations import cover
from admission.panel import Settled, adjudicate, blind, settle
from admission.policy import action_for
from admission.records import (
    Candidate,
    Citations,
    Finding,
    Judgment,
    Label,
    Obligation,
    ObligationType,
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

    `whole`: the memory itself is one more obligation beside its parts (`Verifier.reads_whole`). `names_evidence`: of
    each role, what it is for its judge (`Verifier.names_evidence`). `counterfactual`: what is supported must not be so
    without its evidence (`verification.counterfactual`).
    """

    evidence: EvidenceSettings
    view: VerificationView
    whole: bool
    names_evidence: Mapping[JudgeRole, frozenset[ObligationType]]
    policy: tuple[PolicyRule, ...]
    adjudicated: bool
    config_digest: str
    counterfactual: bool


def deliberate(candidate: Candidate, history: History, rules: Rules) -> Deliberation:
    """Judge `candidate` by what `history` (the turns before the write) says. Source: DerivAudit, the gate step by step.

    The citations are looked at first, and with them, by judges that name what they rely on, what was said later; only
    what they leave open is put to the expanded view. For what is supported, the smallest set of passages that still
    supports it is sought: those sets are a repaired memory's citations. With `rules.counterfactual`, support that
    stays without its evidence is taken back.
    """
    return (yield from _Case(candidate, history, rules).run())


class _Case:
    """One deliberation in progress: what is known so far about each obligation."""

    def __init__(self, candidate: Candidate, history: History, rules: Rules) -> None:
        self.candidate = candidate
        self.history = history
        self.people = history.people
        self.rules = rules
        self.cited, self.invalid, self.ineligible = citation_view(history, candidate, limit=rules.evidence.total)
        # What was shown beyond the citations' view, by passage id.
        self.beyond: dict[str, Passage] = {}
        self.obligations: tuple[Obligation, ...] = ()
        self.findings: dict[str, Finding] = {}
        # Of each obligation: the question whose answers made its finding, and the judgments that found it supported.
        self.asked: dict[str, Question] = {}
        self.support: dict[str, dict[JudgeRole, Judgment]] = {}
        self.found_on: dict[str, set[str]] = {}

    def run(self) -> Deliberation:
        self.obligations = yield from self._split()
        if self.obligations and self.rules.evidence.setting == "expanded":
            yield from self._on_both_views()
        else:
            yield from self._examine([self._question(o, self.cited) for o in self.obligations])
        yield from self._trace()
        if self.rules.counterfactual:
            yield from self._challenge()
        return self._report()

    def _on_both_views(self) -> Generator[Round, Sequence[Answer], None]:
        """The citations first, then the whole expanded view for what they leave open. What is supported is held against
        what was said of it after the citations, for the latest word counts."""
        bounds = self.rules.evidence
        view = expanded_view(
            self.history, self.candidate, self.obligations, retrieved=bounds.retrieved, total=bounds.total
        )
        first = self._first_questions(view)
        yield from self._examine(first)
        still_open = [o for o in self.obligations if self.findings[o.id].label != "supported"]
        if still_open and set(view.passages) - set(self.cited.passages):
            self._show(view.passages)
            yield from self._examine([self._question(o, view) for o in still_open])
        elif not still_open:
            # Support that rests on later turns says nothing of what the citations alone carry.
            elsewhere = [o for o in self.obligations if self.findings[o.id].view == "expanded"]
            yield from self._examine([self._question(o, self.cited) for o in elsewhere])
        held = [q.obligation for q in first if q.view == "citation_only" and q.obligation not in still_open]
        later = [q for o in held if (q := self._later_question(o, view)) is not None]
        self._show([passage for question in later for passage in question.passages])
        yield from self._examine(later)

    def _first_questions(self, view: View) -> list[Question]:
        """Each obligation on the citations. Verifiers that name what they rely on see the later mentions of all such
        obligations at once beside them: their answer tells what the citations carry and whether it was taken back."""
        naming = self.rules.names_evidence
        at_once = [o for o in self.obligations if o.type in naming["verifier_a"] & naming["verifier_b"]]
        texts = [o.text for o in at_once]
        both = with_later_mentions(self.cited, view, texts, self.rules.evidence.total) if texts else None
        questions = []
        for obligation in self.obligations:
            question = self._question(obligation, self.cited)
            if both is not None and obligation in at_once:
                wider = self._question(obligation, both)
                if wider.passages != question.passages:
                    question = wider
                    self._show(wider.passages)
            questions.append(question)
        return questions

    def _later_question(self, obligation: Obligation, view: View) -> Question | None:
        later = later_mentions(view, self.cited, obligation.text)
        shown = {passage.id for passage in (*self.cited.passages, *later)}
        narrowed = view.model_copy(update={"passages": tuple(p for p in view.passages if p.id in shown)})
        question = self._question(obligation, narrowed)
        return question if len(question.passages) > len(self.asked[obligation.id].passages) else None

    def _show(self, passages: Sequence[Passage]) -> None:
        self.beyond |= {passage.id: passage for passage in passages}

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
        questions = [q for q in asked if q.passages and not self._is_known(q)]
        both = yield from _put([(role, q) for q in questions for role in ("verifier_a", "verifier_b")])
        pairs = list(zip(questions, both[::2], both[1::2], strict=True))
        disputed = [q for q, a, b in pairs if settle(a, b) is None] if self.rules.adjudicated else []
        answers = yield from _put([("adjudicator", q) for q in disputed])
        thirds = {q.obligation.id: answer for q, answer in zip(disputed, answers, strict=True)}
        for question, a, b in pairs:
            third = thirds.get(question.obligation.id)
            settled = settle(a, b) or adjudicate(a, b, third)
            self._record(question, settled, (a, b) if third is None else (a, b, third))
        for question in asked:
            if question.obligation.id not in self.findings:
                self._record(question, Settled("insufficient", "none"), ())

    def _is_known(self, question: Question) -> bool:
        before = self.asked.get(question.obligation.id)
        return before is not None and before.passages == question.passages

    def _question(self, obligation: Obligation, view: View) -> Question:
        passages = admissible(view.passages, obligation.text, self.history)
        return Question(
            obligation=obligation,
            memory=self.candidate.memory,
            view=view.name,
            passages=passages,
            people=self.people,
        )

    def _record(self, question: Question, settled: Settled, judgments: tuple[Judgment, ...]) -> None:
        """The newest view decides; the judgments of an earlier one are kept with it.

        But what the citations contradict is not undone by more passages in which nothing is found either way, and what
        they support stays so unless what was said later speaks against it.
        """
        id, type = question.obligation.id, question.obligation.type
        before = self.findings.get(id)
        earlier = before.judgments if before is not None else ()
        if before is not None and _stands(before, question, settled.label):
            self.findings[id] = before.model_copy(update={"judgments": (*earlier, *judgments)})
            return
        agreeing = [j for j in judgments if j.outcome == "judged" and j.label == settled.label != "insufficient"]
        evidence = tuple(dict.fromkeys(turn for j in agreeing for turn in j.evidence))
        support = {role: j for role, j in zip(ROLES, judgments, strict=False) if j.label == "supported"}
        view = question.view
        if settled.label == "supported" and self._naming(type, support) == set(support):
            evidence = read_together(question.passages, evidence)
            if before is None and evidence and set(evidence) <= set(self.cited.turn_ids):
                view = "citation_only"
        self.asked[id] = question
        self.support[id] = support
        self.findings[id] = Finding(
            **question.obligation.model_dump(),
            label=settled.label,
            view=view,
            evidence=evidence,
            resolved_by=settled.resolved_by,
            judgments=(*earlier, *judgments),
        )

    def _trace(self) -> Generator[Round, Sequence[Answer], None]:
        """Give each supported obligation the smallest set of passages that still supports it.

        Where the judges whose word made it supported name all that they rely on, that is the set. The others of them
        are asked again on smaller sets, all in one round. Where none holds, what they named (or else all they were
        shown) stays.
        """
        searches = {id: self._search(f) for id, f in self.findings.items() if f.label == "supported"}
        answers = iter((yield from _put([trial for search in searches.values() for trial in search.trials()])))
        for id, search in searches.items():
            search.hear([next(answers) for _ in search.trials()])
            self.found_on[id] = search.found_on
            self.findings[id] = self.findings[id].model_copy(update={"evidence": search.evidence})

    def _search(self, finding: Finding) -> Search:
        support = self.support[finding.id]
        # Of a disagreement the third judge's word is what made it supported.
        deciding = [role for role in support if finding.resolved_by == "agreement" or role == "adjudicator"]
        naming = self._naming(finding.type, support)
        asked = self.asked[finding.id]
        named = [turn for role in deciding if role in naming for turn in support[role].evidence]
        return Search(
            asked,
            finding.evidence or asked.turn_ids,
            judges=[role for role in deciding if role not in naming],
            relied_on=read_together(asked.passages, named),
        )

    def _naming(self, type: ObligationType, support: Mapping[JudgeRole, Judgment]) -> set[JudgeRole]:
        """The roles whose judges named, of their own accord, all that their support rests on."""
        return {role for role, j in support.items() if j.evidence and type in self.rules.names_evidence[role]}

    def _challenge(self) -> Generator[Round, Sequence[Answer], None]:
        """Take back support that stays where its evidence is not: such a verdict rests on plausibility.

        Those whose word made an obligation supported are asked again without the passages it was found on, and on
        unrelated ones in their place; see `Challenge`.
        """
        challenges = {
            id: Challenge(self.asked[id], self.found_on[id], tuple(self.support[id]), self.history)
            for id, finding in self.findings.items()
            if finding.label == "supported"
        }
        while trials := {id: found for id, challenge in challenges.items() if (found := challenge.trials())}:
            asked = [(trial.judge, trial.question) for found in trials.values() for trial in found]
            answers = iter((yield from _put(asked)))
            for id, found in trials.items():
                challenges[id].hear([(trial, next(answers)) for trial in found])
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
                citation_only=self.cited.turn_ids,
                expanded=View(name="expanded", passages=_in_order(self.beyond)).turn_ids,
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
        return _in_order({p.id: p for p in self.cited.passages} | self.beyond)


def input_digest(candidate: Candidate, history: History) -> str:
    """Digest of everything a verdict depends on besides the configuration."""
    return digest({"candidate": candidate.model_dump(mode="json"), "history": history.digest})


def _in_order(passages: Mapping[str, Passage]) -> tuple[Passage, ...]:
    return tuple(sorted(passages.values(), key=lambda p: (p.position, p.start)))


def _stands(before: Finding, question: Question, label: Label) -> bool:
    """Whether a finding is left as it was by what is now found on other passages.

    What the citations alone are asked about again is supported already, with more: they can only say as much.
    """
    if question.view == "citation_only":
        return label != "supported"
    return (before.label, label) in UNDISTURBED


def _with_check(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    """The verdict with what the counterfactual check has to say; only a contradiction comes before it."""
    said = tuple(check_reasons(findings))
    first, last = (verdict.reasons, said) if verdict.status == "contradicted" else (said, verdict.reasons)
    return verdict._replace(reasons=(*first, *last))


def _put(asked: Sequence[tuple[str, Question]]) -> Generator[Round, Sequence[Answer], list[Judgment]]:
    """One round: each question to its judge, to the adjudicator blind. One judgment a question, in order."""
    by_role = {role: tuple(question for judge, question in asked if judge == role) for role in ROLES}
    by_role["adjudicator"] = tuple(map(blind, by_role["adjudicator"]))
    asks = tuple(Ask(role, questions) for role, questions in by_role.items() if questions)
    answers = (yield asks) if asks else ()
    waiting: dict[str, Iterator[object]] = {ask.role: iter(answer) for ask, answer in zip(asks, answers, strict=True)}
    return [judgment for role, _ in asked if isinstance(judgment := next(waiting[role]), Judgment)]
