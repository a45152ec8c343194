"""The gate driven by files: deliberations are replayed from their start, and what has no answer yet is written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice

from admission.batch.addressing import Addressee, BatchFormat, Letter, custom_id
from admission.batch.answers import Answers
from admission.deliberation import ROLES, JudgeRole
from admission.gate import AdmissionGate, Open, merged
from admission.history import History
from admission.records import Candidate, Judgment, Report
from admission.verifiers.chat.decomposer import ROLE as DECOMPOSER
from admission.verifiers.chat.exchange import Outcome, Request, Rounds, T


class FileDriver:
    """Decides as `AdmissionGate.decide_many` does, with the answers of chat models taken from files.

    `gate` is one for files (`by_file`): its chat models are those that its settings name, and never set up; judges that
    compute do so. `write` is given each request that has no answer yet. Nothing is kept between runs but the answers:
    the same answers lead every deliberation to the same point.
    """

    def __init__(
        self,
        gate: AdmissionGate,
        answers: Answers,
        write: Callable[[Letter], None],
        *,
        format: BatchFormat | None = None,
    ) -> None:
        self.gate = gate
        self.answers = answers
        self._write = write
        self._format = format

    @cached_property
    def addressees(self) -> dict[str, Addressee]:
        """The models that requests are written for, by the role that asks them."""
        verification, models = self.gate.settings.verification, self.gate.settings.models
        kinds: dict[str, str | None] = {role: getattr(verification, role) for role in (*ROLES, DECOMPOSER)}
        named = {role: (kind or "").partition(":")[2] for role, kind in kinds.items()}
        return {role: Addressee.of(models[name], self._format) for role, name in named.items() if name in models}

    def decide_many(self, writes: Iterable[tuple[Candidate, History]], *, batch: int = 32) -> Iterator[Report]:
        """Reports on the writes whose answers are all there, in the order of `writes`; `batch` go in lock-step."""
        source = iter(writes)
        while pairs := list(islice(source, batch)):
            cases = [_Replay(self.gate.opened(candidate, history)) for candidate, history in pairs]
            self._split([case for case in cases if case.open.splits])
            while waiting := [case for case in cases if case.open.report is None and not case.held_up]:
                self._advance(waiting)
            yield from (case.open.report for case in cases if case.open.report is not None)

    def _split(self, cases: Sequence[_Replay]) -> None:
        """The obligations of the memories, by rule; where a model splits, as far as the files say."""
        for case in cases:
            candidate = case.open.candidate
            rounds = self.gate.decomposer.exchange([candidate])
            if rounds is None:
                self.gate.split([case.open])
                continue
            (found,) = self.gate.decomposed([candidate], partial(self._carry, case, rounds))
            if not case.held_up:
                case.open.divide(found)
        self._post(cases)

    def _advance(self, cases: Sequence[_Replay]) -> None:
        """A round of every deliberation that has its answers. Judges compute nothing for one that is held up."""
        filed = {case: self._filed(case) for case in cases}
        self._post(cases)
        ready = [case for case in cases if not case.held_up]
        asked = merged([case.open for case in ready])
        answered = {}
        for role, questions in asked.items():
            from_files = [judgment for case in ready for judgment in filed[case].get(role, ())]
            answered[role] = from_files or self.gate.judge(role, questions, len(ready))
        self.gate.deliver([case.open for case in ready], asked, answered)

    def _post(self, cases: Sequence[_Replay]) -> None:
        for letter in (letter for case in cases for letter in case.letters):
            self._write(letter)

    def _filed(self, case: _Replay) -> dict[JudgeRole, list[Judgment]]:
        """What the chat models among the judges answer in this round, as far as the files say."""
        answers = {}
        for role, questions in merged([case.open]).items():
            rounds = self.gate.verifiers[role].exchange(questions)
            if rounds is not None:
                answers[role] = self.gate.judged(role, questions, partial(self._carry, case, rounds))
        return answers

    def _carry(self, case: _Replay, rounds: Rounds[list[T]]) -> list[T]:
        """What `rounds` returns once all it asks for has its answer; nothing where some has none: it is to be sent."""
        outcomes = None
        while True:
            try:
                requests = next(rounds) if outcomes is None else rounds.send(outcomes)
            except StopIteration as stop:
                return list(stop.value)
            found = [self._outcome(case, request) for request in requests]
            outcomes = [outcome for outcome in found if outcome is not None]
            if len(outcomes) < len(requests):
                return []

    def _outcome(self, case: _Replay, request: Request) -> Outcome | None:
        to = self.addressees[request.role]
        id = case.id_of(request, to)
        outcome = self.answers.outcome(id)
        if outcome is None:
            case.letters.append(Letter(id, to, request.messages, request.schema))
        return outcome


class _Replay:
    """One deliberation on its way through the answers there are; `letters` are the requests it is held up by."""

    def __init__(self, open: Open) -> None:
        self.open = open
        self.letters: list[Letter] = []
        self._asked: Counter[str] = Counter()

    @property
    def held_up(self) -> bool:
        return bool(self.letters)

    def id_of(self, request: Request, to: Addressee) -> str:
        """The id of the request; one that says the same as an earlier one of this write has its own."""
        candidate = self.open.candidate
        write = (candidate.conversation, candidate.id)
        first = custom_id(to, request.role, request.messages, write, 1)
        self._asked[first] += 1
        nth = self._asked[first]
        return first if nth == 1 else custom_id(to, request.role, request.messages, write, nth)
