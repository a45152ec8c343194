"""The counterfactual check: does support fall without its evidence and on unrelated passages? Questions and answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from admission.eligibility import admissible, stands_alone
from admission.history import History
from admission.records import Check, Finding, Judgment, Passage, Question
from admission.text import content_terms

FURTHER_REMOVALS = 2
"""How often what a judge names instead of the evidence taken away is taken away too."""
_LOOKED_AT = 256  # passages of the history looked at for one replacement: a long conversation must not cost more
_LEAST, _MOST = 0.5, 2.0  # lengths that are about equal, as shares of the length replaced

NEUTRAL = (
    "The bus was a little late this morning, and most of the seats were taken.",
    "It rained for an hour around noon, then the sky cleared again.",
    "The lift in the hall makes an odd noise between the second and third floor.",
    "Somebody left an umbrella by the door.",
    "The corner shop has moved the bread to the other side.",
    "There was a long queue at the post office, so the letter goes out tomorrow.",
    "The clock on the wall is four minutes fast.",
    "A grey cat sat on the fence for most of the afternoon.",
)
"""Small talk shown where a conversation has no unrelated passage of its own."""

_WHERE: dict[Check, str] = {"removed": "without its evidence", "unrelated": "on unrelated passages"}


class Trial(NamedTuple):
    """One question of the check, which of the two it is, and the role of the judge it goes to."""

    judge: str
    check: Check
    question: Question


class Challenge:
    """The check of one supported obligation: ask its `trials`, let it `hear` the answers, until there are no more.

    `asked` is the question on which the support was found, `evidence` the turns it was found on, `judges` the roles
    whose word made it so. Each judge is asked once on unrelated passages, and without the evidence until its support
    falls or is named nowhere: what it names then is further evidence, taken away too, `FURTHER_REMOVALS` times at most.
    """

    def __init__(self, asked: Question, evidence: Collection[str], judges: Sequence[str], history: History) -> None:
        self.judgments: list[Judgment] = []
        self._asked = asked
        self._history = history
        self._evidence = frozenset(evidence)
        self._gone = set(evidence)
        self._standing = tuple(judges)
        self._rounds = 0

    def trials(self) -> list[Trial]:
        """The questions of the next round; none when the check is through."""
        if self._rounds > FURTHER_REMOVALS or not self._standing:
            return []
        rest = without(self._asked, self._gone, self._history)
        found = [Trial(judge, "removed", rest) for judge in self._standing]
        if self._rounds == 0:
            instead = replaced(self._asked, self._evidence, self._history)
            found += [Trial(judge, "unrelated", instead) for judge in self._standing]
        return found

    def hear(self, answers: Sequence[tuple[Trial, Judgment]]) -> None:
        """One judgment a trial of this round."""
        self._rounds += 1
        self.judgments += [answer.model_copy(update={"check": trial.check}) for trial, answer in answers]
        elsewhere = [(t, a) for t, a in answers if t.check == "removed" and a.label == "supported" and a.evidence]
        self._standing = tuple(trial.judge for trial, _ in elsewhere)
        self._gone.update(turn for _, answer in elsewhere for turn in answer.evidence)

    def outcome(self, finding: Finding) -> Finding:
        """The finding with the check's judgments; no longer supported where one of them stands without evidence, or
        was never made: what was not checked does not pass for checked."""
        update: dict[str, object] = {"judgments": (*finding.judgments, *self.judgments)}
        if any(judgment.unmoved or judgment.outcome == "failed" for judgment in self.judgments):
            update |= {"label": "insufficient", "evidence": ()}
        return finding.model_copy(update=update)


def without(asked: Question, turn_ids: Collection[str], history: History) -> Question:
    """`asked` without these turns, and without what counts as evidence only beside one of them."""
    rest = [passage for passage in asked.passages if passage.turn_id not in turn_ids]
    return asked.model_copy(update={"passages": admissible(rest, asked.obligation.text, history)})


def replaced(asked: Question, turn_ids: Collection[str], history: History) -> Question:
    """`asked` on unrelated passages alone, one (`replacement`) for each passage of these turns."""
    taken = {passage.turn_id for passage in asked.passages}
    chosen: list[Passage] = []
    for number, passage in enumerate(p for p in asked.passages if p.turn_id in turn_ids):
        instead = replacement(passage, asked.obligation.text, taken, number, history)
        taken.add(instead.turn_id)
        chosen.append(instead)
    return asked.model_copy(update={"passages": tuple(sorted(chosen, key=lambda p: (p.position, p.start)))})


def replacement(passage: Passage, statement: str, taken: Collection[str], number: int, history: History) -> Passage:
    """An unrelated passage in the place of this one, the `number`th that is replaced.

    It is of none of the turns `taken`, counts as evidence by itself, shares no content word with the statement, is of
    the same role and speaker and about as long; of such passages the farthest from what it replaces is taken,
    the earlier of two. Where the history has none, it is small talk (`NEUTRAL`) in the same speaker's mouth.
    """
    return _unrelated(passage, statement, taken, history) or _neutral(passage, statement, number)


def _unrelated(passage: Passage, statement: str, taken: Collection[str], history: History) -> Passage | None:
    wanted = set(content_terms(statement))
    lengths = (_LEAST * len(passage.text), _MOST * len(passage.text))
    for looked_at, position in enumerate(_farthest_first(history.passage_count, passage.position)):
        if looked_at == _LOOKED_AT:
            return None
        other = history.passage(position)
        if (
            other.turn_id not in taken
            and (other.role, other.speaker) == (passage.role, passage.speaker)
            and lengths[0] <= len(other.text) <= lengths[1]
            and stands_alone(other, statement, history)
            and wanted.isdisjoint(content_terms(other.text))
        ):
            return other
    return None


def _farthest_first(count: int, position: int) -> Iterator[int]:
    """Positions from both ends of `range(count)` towards `position`; of two as far away the earlier comes first."""
    low, high = 0, count - 1
    while low <= high:
        if position - low >= high - position:
            yield low
            low += 1
        else:
            yield high
            high -= 1


def _neutral(passage: Passage, statement: str, number: int) -> Passage:
    """Small talk of about the passage's length in its place, beginning at another sentence for each `number`."""
    wanted = set(content_terms(statement))
    unrelated = [text for text in NEUTRAL if wanted.isdisjoint(content_terms(text))] or NEUTRAL
    text, place = unrelated[number % len(unrelated)], number
    while len(text) < _LEAST * len(passage.text):
        place += 1
        text += " " + unrelated[place % len(unrelated)]
    id = f"neutral:{passage.id}"
    fresh = {
        "id": id,
        "turn_id": id,
        "text": text,
        "start": 0,
        "end": len(text),
        "reply_to": None,
        "confirmed_by": None,
    }
    return passage.model_copy(update=fresh)


def check_reasons(findings: Iterable[Finding]) -> Iterator[str]:
    """Why findings are not supported after the check: support that did not move, and answers that never came."""
    for finding in findings:
        checks = [(judgment.check, judgment) for judgment in finding.judgments if judgment.check is not None]
        stood: dict[Check, list[str]] = {}
        for check, judgment in checks:
            if judgment.unmoved:
                stood.setdefault(check, []).append(judgment.verifier)
        if stood:
            said = "; ".join(f"{_WHERE[check]} by {', '.join(dict.fromkeys(by))}" for check, by in stood.items())
            yield f"plausible_without_evidence: {finding.id} {finding.text!r}: called supported {said}"
        for check, judgment in checks:
            if judgment.outcome == "failed":
                yield f"verifier_failed: {judgment.verifier} on {finding.id}, {_WHERE[check]}: {judgment.reason}"


def before_check(finding: Finding) -> Finding:
    """The finding without the check's judgments: what the passages looked at led to."""
    return finding.model_copy(update={"judgments": tuple(j for j in finding.judgments if j.check is None)})
