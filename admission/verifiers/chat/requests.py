"""Questions to messages: shared rules, then the fenced evidence, the statements last: prompts share a long prefix."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import prompts
from admission.records import Obligation, ObligationType, Passage, Question, VerificationView
from admission.text import content_terms, printable

ANSWER_SHOWN = 4000
"""Characters of an unusable answer that are shown to the model again when it is asked to repair it."""

# What an id or a name may not bring into its line: controls, line separators, reordering marks, lone surrogates.
_STEERING = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters that no reader sees and a model reads.
_INVISIBLE = re.compile("[\U000e0000-\U000e007f]")

_ARGUMENTS: dict[ObligationType, str] = {
    "fact": "Of whom or what is it said? What is said of them? With whom, where, when, how much? Done, or planned?",
    "relation": "What is the one end? What is the other? Which words state the link, in which direction? Who says so?",
    "qualification": "What is qualified? With which time, amount, degree, condition, speaker or negation? Who says so?",
}


class Message(NamedTuple):
    """One message of a prompt, as every chat model takes it."""

    role: Literal["system", "user", "assistant"]
    content: str


Messages = tuple[Message, ...]


def template_of(role: str, view: VerificationView) -> str:
    """The prompt that a judge in this role is asked with. The adjudicator decides alike in every view."""
    return "adjudicate" if role == "adjudicator" else f"judge_{view}"


def messages_for(questions: Sequence[Question], role: str, view: VerificationView) -> Messages:
    """The prompt for questions that share their passages: up to the statements the same for any such questions."""
    body = evidence_of(questions[0].passages)
    obligations = [question.obligation for question in questions]
    present = _listed if role == "adjudicator" else _PRESENTED[view]
    template = prompts.load(template_of(role, view))
    asked = template.substitute(fence=fence_of(body), evidence=body, statements=present(obligations))
    return (Message("system", prompts.load("system").template), Message("user", asked))


def repair_of(messages: Messages, answer: str, problems: Sequence[str], ids: Sequence[str]) -> Messages:
    """The prompt with the unusable answer and one more message that says what was wrong with it."""
    again = prompts.load("repair").substitute(problems="; ".join(problems), ids=", ".join(map(quoted, ids)))
    return answered_with(messages, answer, again)


def answered_with(messages: Messages, answer: str, again: str) -> Messages:
    """The prompt, the answer it got, and what is asked then."""
    shown = printable(answer)[:ANSWER_SHOWN].strip() or "(empty)"
    return (*messages, Message("assistant", shown), Message("user", again))


def fence_of(body: str) -> str:
    """The mark around `body`, from a digest of it: nothing enclosed can have been written to hold the mark."""
    return "=" * 8 + hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:24] + "=" * 8


def evidence_of(passages: Sequence[Passage]) -> str:
    """The passages as data: a line on each turn, its words behind "| ", which no text can leave."""
    return "\n".join(line for passage in passages for line in (_heading(passage), *lines_of(passage.text)))


def quoted(text: str) -> str:
    """`text` as a JSON string on one line, with what could steer a reader escaped; a model gives it back as it was."""
    return _STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))


def _heading(passage: Passage) -> str:
    _, _, window = passage.id.removeprefix(passage.turn_id).partition("#")
    parts = [
        f"turn {quoted(passage.turn_id)}" + (f" part {window}" if window.isdecimal() else ""),
        f"no. {passage.position + 1}",
        passage.role + (f" {quoted(passage.speaker)}" if passage.speaker else ""),
    ]
    if passage.time is not None:
        parts.append(" ".join(passage.time.split()))
    if passage.reply_to is not None:
        parts.append(f"answers {quoted(passage.reply_to)}")
    if passage.confirmed_by is not None:
        parts.append(f"accepted in {quoted(passage.confirmed_by)}")
    return ", ".join(parts)


def lines_of(text: str) -> list[str]:
    """The lines of a text as data, each behind a mark of its own."""
    return ["| " + line for line in _INVISIBLE.sub("", printable(text)).splitlines()]


def _listed(obligations: Sequence[Obligation]) -> str:
    return "\n".join(f"- id {quoted(o.id)}, {o.type}: {quoted(o.text)}" for o in obligations)


def _claims(obligations: Sequence[Obligation]) -> str:
    return "\n".join(f"- id {quoted(o.id)}: {quoted(o.text)}" for o in obligations)


def _with_arguments(obligations: Sequence[Obligation]) -> str:
    return "\n".join(f"{_listed([o])}\n  {_ARGUMENTS[o.type]}" for o in obligations)


def _compact(obligations: Sequence[Obligation]) -> str:
    """One statement: the facts, linked by the relations, qualified by the rest; each part with its id."""
    parts = {
        "": [o for o in obligations if o.type == "fact"],
        "linked by ": [o for o in obligations if o.type == "relation"],
        "qualified by ": [o for o in obligations if o.type == "qualification"],
    }
    return "; ".join(
        said + " and ".join(f"[id {quoted(o.id)}] {quoted(o.text)}" for o in found)
        for said, found in parts.items()
        if found
    )


def _graph(obligations: Sequence[Obligation]) -> str:
    nodes = [o for o in obligations if o.type == "fact"]
    edges = [o for o in obligations if o.type == "relation"]
    marks = [o for o in obligations if o.type == "qualification"]
    lines = [f"- node, id {quoted(o.id)}: {quoted(o.text)}" for o in nodes]
    lines += [f"- edge{_touching(o, nodes, 2, ' between ')}, id {quoted(o.id)}: {quoted(o.text)}" for o in edges]
    lines += [f"- mark{_touching(o, nodes, 1, ' on ')}, id {quoted(o.id)}: {quoted(o.text)}" for o in marks]
    return "\n".join(lines)


def _touching(obligation: Obligation, nodes: Sequence[Obligation], ends: int, said: str) -> str:
    """The nodes whose content words an edge or a mark repeats most, if there are as many as it has ends."""
    own = set(content_terms(obligation.text))
    shares = {node.id: len(own & (terms := set(content_terms(node.text)))) / max(1, len(terms)) for node in nodes}
    found = sorted((id for id, share in shares.items() if share >= 0.5), key=lambda id: -shares[id])[:ends]
    return said + " and ".join(map(quoted, sorted(found, key=list(shares).index))) if len(found) == ends else ""


_PRESENTED: dict[VerificationView, Callable[[Sequence[Obligation]], str]] = {
    "holistic": _claims,
    "atomic_claims": _claims,
    "predicate_argument_qa": _with_arguments,
    "compact_relation": _compact,
    "composition_graph": _graph,
    "obligations": _listed,
}
