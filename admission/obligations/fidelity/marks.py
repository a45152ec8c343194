"""A memory as a row of marks: the words that count, in order, each with what it may not be said without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from admission.obligations.coverage import normal_forms
from admission.obligations.fidelity.clause_parts import Clause
from admission.obligations.fidelity.companions import Need, Statement
from admission.obligations.fidelity.tokens import Forms, forms_of, kind_of, tense_of
from admission.obligations.layout import statements
from admission.obligations.references import Subject, stand_alone, subject_of
from admission.text import words

_ENDS_COUNT = frozenset(("and", "or", "but", ","))


@dataclass(frozen=True, slots=True)
class Mark:
    """A word that counts.

    `forms` is what it is compared by; of a pronoun also the forms of what it stands for. `kind` as `tokens.kind_of` has
    it. `needs`: what a statement that says the word has to hold as well. `follows`: forms of the words after it in its
    clause; of a number, before the next number or "and". `tense`: "past" or "present" of a finite verb, else "".
    """

    word: str
    forms: Forms
    kind: str
    needs: tuple[Need, ...]
    follows: tuple[Forms, ...]
    tense: str


def marks_of(memory: str) -> list[Mark]:
    """The marks of a memory, statement by statement, each with names for its pronouns where that can be done safely."""
    found: list[Mark] = []
    subject: Subject | None = None
    said: list[str] = []
    for text in statements(memory):
        alone = (stand_alone(text, subject, " ".join(said[-3:])) if said else None) or text
        found += marks_in(Statement(alone))
        said.append(alone)
        subject = subject_of(alone) or subject
    return found


def marks_in(statement: Statement) -> list[Mark]:
    """The marks of one statement."""
    return [mark for clause in statement.clauses for mark in _marks(statement, clause)]


def _marks(statement: Statement, clause: Clause) -> Iterator[Mark]:
    for k in range(clause.start, clause.end):
        token, kind, needs = (
            statement.tokens[k],
            kind_of(statement.tokens, k),
            tuple(sorted(statement.needs[k], key=sorted)),
        )
        if token.opaque:
            # What is quoted, in brackets or an address is compared word for word.
            for word in words(token.text):
                yield Mark(word, frozenset(normal_forms(word.lower())), kind, needs, (), "")
        elif kind:
            forms, follows = forms_of(token) | statement.meant[k], _follows(statement, k, clause.end, kind)
            yield Mark(token.text, forms, kind, needs, follows, tense_of(statement.tokens, clause, k))


def _follows(statement: Statement, k: int, end: int, kind: str) -> tuple[Forms, ...]:
    tokens = statement.tokens
    if kind == "number":
        ends = (i for i in range(k + 1, end) if tokens[i].low in _ENDS_COUNT or kind_of(tokens, i) == "number")
        end = next(ends, end)
    after = (i for i in range(k + 1, end) if kind_of(tokens, i) in ("content", "pronoun"))
    return tuple(forms_of(tokens[i]) | statement.meant[i] for i in after)
