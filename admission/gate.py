"""AdmissionGate: drives deliberations with real verifiers, one at a time, asynchronously, or many in lock-step."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from admission.decomposition import (
    Decomposer,
    Decomposition,
    RuleDecomposer,
    build_decomposer,
    by_rule_instead,
    check_decomposer,
)
from admission.deliberation import Answer, Ask, JudgeRole, Round, Rules, Split, deliberate, input_digest
from admission.errors import VerifierError
from admission.history import History
from admission.observability import deciding
from admission.policy import action_for
from admission.records import Account, Candidate, Judgment, Question, Report, Thresholds, Usage, digest
from admission.settings import Settings, load_settings
from admission.text import printable
from admission.verifiers import build_verifier, check_kind
from admission.verifiers.assembly import Assembly, result_cache
from admission.verifiers.protocol import Verifier
from admission.verifiers.sameness import same_models
from admission.verifiers.waiting import within
from admission.version import __version__

Asked = dict[JudgeRole, list[Question]]
Answered = Mapping[JudgeRole, Sequence[Judgment]]


class AdmissionGate:
    """Decides what may become a memory. It keeps no state of its own: settings and verifiers, nothing between writes.

    Verifiers left out are built from the settings at first use. Whatever goes wrong while judging is a reason in the
    report, whose status is then `unresolved`; no verdict is ever signalled by an exception. `by_file`: chat models are
    not set up, for `admission.batch` writes what they are asked to files.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        verifier_a: Verifier | None = None,
        verifier_b: Verifier | None = None,
        adjudicator: Verifier | None = None,
        decomposer: Decomposer | None = None,
        by_file: bool = False,
    ) -> None:
        self.settings = settings if settings is not None else load_settings()
        self._by_file = by_file
        self._splitting = decomposer
        self._given: dict[JudgeRole, Verifier | None] = {
            "verifier_a": verifier_a,
            "verifier_b": verifier_b,
            "adjudicator": adjudicator,
        }
        self._kinds: dict[JudgeRole, str | None] = {
            "verifier_a": self.settings.verification.verifier_a,
            "verifier_b": self.settings.verification.verifier_b,
            "adjudicator": self.settings.verification.adjudicator,
        }
        for role, kind in self._kinds.items():
            if kind is not None and self._given[role] is None:
                check_kind(f"verification.{role}", kind, self.settings.models, self.settings.local)
        # By files a write is judged from its start in every run: it would find its own earlier rounds there, as free.
        cache = self.settings.cache
        self._cache = None if by_file else result_cache(cache.folder, cache.size_mb)
        if decomposer is None:
            check_decomposer("verification.decomposer", self.settings.verification.decomposer, self.settings.models)
        self._building = threading.Lock()

    @property
    def verifiers(self) -> Mapping[JudgeRole, Verifier]:
        """The judges by role; `adjudicator` is left out where the deployment has none."""
        with self._building:  # two first writes at once must not load the weights twice
            return self._verifiers

    @cached_property
    def _verifiers(self) -> dict[JudgeRole, Verifier]:
        judges = dict(self._given)
        for role, kind in self._kinds.items():
            if judges[role] is None and kind is not None:
                judges[role] = self._assembly.judge(kind)
        view = self.settings.verification.view
        return {role: judge.seated(role, view) for role, judge in judges.items() if judge is not None}

    @property
    def decomposer(self) -> Decomposer:
        """Who splits memories into obligations."""
        with self._building:
            return self._decomposer

    @cached_property
    def _decomposer(self) -> Decomposer:
        if self.settings.verification.view == "holistic":
            return RuleDecomposer()  # the memory is judged as it is: all that is asked is whether it claims anything
        if self._splitting is not None:
            return self._splitting
        return build_decomposer(self.settings.verification.decomposer, self._assembly.plain)

    @cached_property
    def _assembly(self) -> Assembly:
        overrides, models, local = self.settings.verification.thresholds, self.settings.models, self.settings.local

        def build(kind: str) -> Verifier:
            return build_verifier(kind, overrides.get(kind), models, local, by_file=self._by_file)

        return Assembly(build, models, self._cache)

    @cached_property
    def config_digest(self) -> str:
        """Digest of all that a report depends on besides its input: settings, judges, this package's version."""
        settings = self.settings.model_dump(mode="json", include={"evidence", "verification", "policy"})
        judges = {role: verifier.identity for role, verifier in self.verifiers.items()}
        splitting = self.decomposer.identity
        return digest({"version": __version__, "settings": settings, "judges": judges, "decomposer": splitting})

    @cached_property
    def _warnings(self) -> tuple[str, ...]:
        return same_models(self.verifiers)

    @cached_property
    def _rules(self) -> Rules:
        return Rules(
            evidence=self.settings.evidence,
            view=self.settings.verification.view,
            whole=any(judge.reads_whole for judge in self.verifiers.values()),
            names_evidence={role: judge.names_evidence for role, judge in self.verifiers.items()},
            policy=self.settings.policy,
            adjudicated="adjudicator" in self.verifiers,
            config_digest=self.config_digest,
            counterfactual=self.settings.verification.counterfactual,
        )

    def decide(self, candidate: Candidate, history: History) -> Report:
        """The report on one candidate, given the turns before its write."""
        return next(self.decide_many([(candidate, history)]))

    async def adecide(self, candidate: Candidate, history: History) -> Report:
        """Async twin of `decide`: the same rounds, awaited, the judges of a round side by side."""
        if "_rules" not in self.__dict__:
            await asyncio.to_thread(lambda: self._rules)  # first use loads weights, which must not hold up the loop
        with deciding(1, log_text=self.settings.observability.log_text) as decided:
            case = self.opened(candidate, history)
            await self._asplit(case)
            while case.report is None:
                asked = merged([case])
                judgments = await asyncio.gather(*(self._ajudge(role, asked[role]) for role in asked))
                self.deliver([case], asked, dict(zip(asked, judgments, strict=True)))
            decided([case.report])
        return case.report

    def decide_many(self, writes: Iterable[tuple[Candidate, History]], *, batch: int = 32) -> Iterator[Report]:
        """Reports in the order of `writes`, `batch` deliberations in lock-step: one call a judge a round for all."""
        source = iter(writes)
        while pairs := list(islice(source, batch)):
            yield from self._decided_together(pairs)

    def _decided_together(self, pairs: Sequence[tuple[Candidate, History]]) -> list[Report]:
        with deciding(len(pairs), log_text=self.settings.observability.log_text) as decided:
            cases = [self.opened(candidate, history) for candidate, history in pairs]
            self.split(cases)
            while waiting := [case for case in cases if case.report is None]:
                asked = merged(waiting)
                self.deliver(waiting, asked, {role: self.judge(role, asked[role], len(waiting)) for role in asked})
            reports = [case.report for case in cases if case.report is not None]
            decided(reports)
        return reports

    def opened(self, candidate: Candidate, history: History) -> Open:
        """The deliberation on one candidate, at its first round: for a driver."""
        return Open(candidate, history, self._rules, self._warnings)

    def split(self, cases: Sequence[Open]) -> None:
        """Give deliberations in their first round the obligations of their memories, and let them go on."""
        asking, decomposer = [case for case in cases if case.splits], self.decomposer
        candidates, limit = [case.candidate for case in asking], self.settings.verification.timeout_s * len(asking)
        if decomposer.exchange(()) is None:  # nothing to wait for
            found = self.decomposed(candidates, lambda: decomposer.decompose(candidates))
        else:
            found = self.decomposed(candidates, lambda: within(limit, lambda: decomposer.decompose(candidates)))
        for case, decomposition in zip(asking, found, strict=True):
            case.divide(decomposition)

    async def _asplit(self, case: Open) -> None:
        if not case.splits:
            return
        limit = self.settings.verification.timeout_s
        try:
            answer = await asyncio.wait_for(self.decomposer.adecompose([case.candidate]), limit)
            (found,) = self.decomposed([case.candidate], lambda: answer)
        except Exception as error:  # noqa: BLE001 - as in `decomposed`
            found = by_rule_instead(case.candidate, ": ".join(_why(error)))
        case.divide(found)

    def decomposed(
        self, candidates: Sequence[Candidate], answer: Callable[[], Sequence[Decomposition]]
    ) -> list[Decomposition]:
        """What `answer` returns as the candidates' decompositions; those by rule, with the reason, where it raises."""
        try:
            found = list(answer())
            if len(found) != len(candidates):
                raise VerifierError("malformed_answer", f"{len(candidates)} memories got {len(found)} decompositions")
            return found
        except Exception as error:  # noqa: BLE001 - any failure of a decomposer leaves its work to the rules
            return [by_rule_instead(candidate, ": ".join(_why(error))) for candidate in candidates]

    def judge(self, role: JudgeRole, questions: list[Question], writes: int) -> list[Judgment]:
        """The answers of the judge in this role to the questions of so many writes."""
        limit = self.settings.verification.timeout_s * writes
        verifier = self.verifiers[role]
        return self.judged(role, questions, lambda: within(limit, lambda: verifier.judge(questions)))

    def judged(
        self, role: JudgeRole, questions: list[Question], answer: Callable[[], Sequence[Judgment]]
    ) -> list[Judgment]:
        """What `answer` returns as the judge's answers, checked; failed judgments where it raises."""
        verifier = self.verifiers[role]
        try:
            return self._checked(verifier, questions, answer())
        except Exception as error:  # noqa: BLE001 - any failure of a verifier is a reason, never a crash or an admission
            return _failed(verifier, questions, error)

    async def _ajudge(self, role: JudgeRole, questions: list[Question]) -> list[Judgment]:
        verifier = self.verifiers[role]
        try:
            answers = await asyncio.wait_for(verifier.ajudge(questions), self.settings.verification.timeout_s)
            return self._checked(verifier, questions, answers)
        except Exception as error:  # noqa: BLE001 - as in `judged`
            return _failed(verifier, questions, error)

    def _checked(
        self, verifier: Verifier, questions: Sequence[Question], judgments: Sequence[Judgment]
    ) -> list[Judgment]:
        """One judgment a question, or the whole call failed: a short answer is never stretched over what was asked.

        This is the one place where thresholds meet numbers, so `verification.strictness` binds every kind of verifier.
        """
        if len(judgments) != len(questions) or not all(isinstance(j, Judgment) for j in judgments):
            raise VerifierError("malformed_answer", f"{len(questions)} questions got {len(judgments)} answers")
        thresholds = verifier.thresholds.stricter(self.settings.verification.strictness)
        return [_derived(thresholds, q, judgment) for q, judgment in zip(questions, judgments, strict=True)]

    def deliver(self, cases: Sequence[Open], asked: Asked, answered: Answered) -> None:
        """Give every deliberation its own part of the answers, in the order it was asked for, and let it go on."""
        ends = dict.fromkeys(asked, 0)
        for case in cases:
            answers: list[Answer] = []
            for request in case.round:
                if not isinstance(request, Ask):
                    raise TypeError("a deliberation has its obligations before it asks a judge")
                start = ends[request.role]
                ends[request.role] = start + len(request.questions)
                own = answered[request.role][start : ends[request.role]]
                case.charge(request.role, self.verifiers[request.role].usage(request.questions, own))
                answers.append([j if j.cost is None else j.model_copy(update={"cost": None}) for j in own])
            case.go_on(answers)


class Open:
    """One deliberation that a driver has in hand: the round it waits for, then its report.

    `warnings` are reasons that come after all others in the report of whatever was put to the judges.
    """

    def __init__(self, candidate: Candidate, history: History, rules: Rules, warnings: tuple[str, ...]) -> None:
        self.candidate, self.history, self.rules, self.warnings = candidate, history, rules, warnings
        self.round: Round = ()
        self.report: Report | None = None
        self.spent: dict[str, Usage] = {}
        self._thinking = 0.0
        self._began = time.perf_counter()
        self._deliberation = deliberate(candidate, history, rules)
        self.go_on(None)

    def go_on(self, answers: Sequence[Answer] | None) -> None:
        began = time.perf_counter()
        try:
            self.round = next(self._deliberation) if answers is None else self._deliberation.send(answers)
        except StopIteration as stop:
            self.report = self._completed(stop.value, began)
        except Exception as error:  # noqa: BLE001 - a fault of ours must leave the write unresolved, not lost
            self.report = self._completed(self._broken(error), began)
        self._thinking += time.perf_counter() - began

    @property
    def splits(self) -> bool:
        """Whether it is in its first round, and waits for the obligations of its memory."""
        return any(isinstance(request, Split) for request in self.round) and self.report is None

    def divide(self, found: Decomposition) -> None:
        """Take the obligations of the memory."""
        self.charge("decomposer", found.cost)
        self.warnings = (*((found.warning,) if found.warning else ()), *self.warnings)
        self.go_on([found.obligations])

    def charge(self, role: str, usage: Usage) -> None:
        self.spent[role] = self.spent.get(role, Usage()) + usage

    def on_account(self, request: Ask, number: int) -> list[Question]:
        """The request's questions with what the judge may need to know of the write they are asked for."""
        spent = self.spent.get(request.role, Usage())
        account = Account(candidate=self.candidate.id, number=number, spent=spent)
        return [question.model_copy(update={"account": account}) for question in request.questions]

    def _completed(self, report: Report, began: float) -> Report:
        now = time.perf_counter()
        total, thinking = now - self._began, self._thinking + now - began
        timing = {"total": total, "evidence": thinking, "verifiers": max(0.0, total - thinking)}
        milliseconds = {name: round(seconds * 1000, 3) for name, seconds in timing.items()}
        usage = sum(self.spent.values(), Usage())
        reasons = (*report.reasons, *(self.warnings if report.obligations else ()))
        return report.model_copy(update={"usage": usage, "timing_ms": milliseconds, "reasons": reasons})

    def _broken(self, error: Exception) -> Report:
        candidate = self.candidate
        return Report.on(
            candidate,
            status="unresolved",
            action=action_for("unresolved", False, candidate.namespace, self.rules.policy),
            reasons=(printable(f"internal_error: {type(error).__name__}: {error}"),),
            config_digest=self.rules.config_digest,
            input_digest=input_digest(candidate, self.history),
        )


def merged(cases: Sequence[Open]) -> Asked:
    """All questions of a round by judge, in the order of the cases."""
    asked: Asked = {}
    for number, case in enumerate(cases):
        for request in case.round:
            if isinstance(request, Ask):
                asked.setdefault(request.role, []).extend(case.on_account(request, number))
    return asked


def _derived(thresholds: Thresholds, question: Question, judgment: Judgment) -> Judgment:
    """The judgment with its label by the thresholds, and no evidence but what was shown: neither is taken on trust."""
    if judgment.outcome != "judged":
        return judgment
    label = thresholds.label(judgment.support, judgment.contradiction)
    shown = set(question.turn_ids)
    evidence = tuple(turn for turn in judgment.evidence if turn in shown)
    return judgment.model_copy(update={"label": label, "evidence": evidence})


def _why(error: Exception) -> tuple[str, str]:
    """Code and detail of what a call raised."""
    if isinstance(error, VerifierError):
        return error.code, printable(error.detail)
    if isinstance(error, TimeoutError):
        return "timeout", "no answer within the time allowed (verification.timeout_s)"
    return "model_error", printable(f"{type(error).__name__}: {error}")


def _failed(verifier: Verifier, questions: Sequence[Question], error: Exception) -> list[Judgment]:
    code, detail = _why(error)
    return [Judgment.failed(verifier.name, question.view, code, detail) for question in questions]
