"""What the words of a statement may not be said without: whose doing, which verb, which denial, plan or condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from admission.obligations.clauses import is_ing, tokenise
from admission.obligations.fidelity.clause_parts import Clause, clauses_of, content, is_verb, verb_of
from admission.obligations.fidelity.pronouns import meant_by
from admission.obligations.fidelity.tokens import (
    DENIALS,
    PAST_AUXILIARIES,
    Forms,
    forms_of,
    goes_on,
    held_as,
    is_infinitive,
    is_quantity,
    kind_of,
)
from admission.obligations.qualifications import attributed, contains_phrase
from admission.obligations.relations import is_past
from admission.obligations.vocabulary import (
    ATTRIBUTION_PHRASES,
    BE,
    BOTH_HOLD,
    FIRST_HOLDS,
    HAVE,
    MODALS,
    NEITHER_HOLDS,
    phrase_set,
)
from admission.text import word_set

Need = frozenset[str]
"""Forms one of which a statement has to hold."""

INFINITIVE = "<to>"
"""Among the forms of a statement with an infinitive: "has to move" is not "has moved to"."""
COPULAR = "<copular>"
"""Among the forms of a statement whose only verb is "is" or "has": such a one may say that something exists."""

_WHOLE_CLAUSE = word_set(
    """
    probably possibly perhaps maybe likely unlikely apparently reportedly allegedly supposedly seemingly potentially
    presumably except without
    """
)
_WEAKENERS = word_set("rarely seldom sometimes occasionally scarcely almost nearly partly partially")
_GRADES = word_set("more less most least")
_NARROWED = DENIALS | word_set("only solely exclusively always all every each any rarely seldom hardly")
_TEMPORAL = word_set("when while once after before as")
# What follows these is a thing there is, not something that may never come about.
_NOMINAL = phrase_set(
    "because of, due to, owing to, thanks to, on account of, as a result of, despite, in spite of, leading to,"
    " resulting in"
)
_PRESENT_BE, _PAST_BE = word_set("is are am 's 're 'm be been being"), word_set("was were be been being")
_PRESENT_HAVE, _PAST_HAVE = word_set("has have 've 's having"), word_set("had having")


class Statement:
    """One statement read: its tokens and clauses, what its pronouns mean, and the needs of each token."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenise(text)
        self.clauses = clauses_of(self.tokens)
        self.meant = meant_by(text, self.tokens)
        self.needs: list[set[Need]] = [set() for _ in self.tokens]
        self._doers = [self._doer(clause) for clause in self.clauses]
        self._pronouns = [frozenset[str]().union(*self.meant[c.start : c.end]) for c in self.clauses]
        for number, clause in enumerate(self.clauses):
            self._done_by(number, clause)
            self._operators(clause)
            self._infinitives(clause)
            self._links(number, clause)
            self._reports(number, clause)
            self._joined(clause)
        self._antecedents()
        if phrase := contains_phrase([token.low for token in self.tokens], ATTRIBUTION_PHRASES):
            self._bind(range(len(self.tokens)), _key(phrase))

    def forms(self) -> Forms:
        """All forms of its words, by any of which a need is met."""
        found = {form for token in self.tokens for form in (*held_as(token), token.low)}
        heads = [clause.head for clause in self.clauses if clause.head is not None]
        if len(heads) == 1 and self.tokens[verb_of(self.tokens, heads[0])].low in BE | HAVE:
            found.add(COPULAR)
        if any(is_infinitive(self.tokens, k) for k in range(len(self.tokens))):
            found.add(INFINITIVE)
        return frozenset(found)

    def _bind(self, places: Iterable[int], need: Need) -> None:
        for k in places:
            if not need & forms_of(self.tokens[k]):
                self.needs[k].add(need)

    def _doer(self, clause: Clause) -> Forms:
        return frozenset(form for k in clause.subject for form in forms_of(self.tokens[k]) | self.meant[k])

    def _verb(self, clause: Clause) -> Need:
        """The forms of a clause's verb. "Was" is not "is", but "has been" may be."""
        if clause.head is None:
            return frozenset()
        first, verb = self.tokens[clause.head.verb], self.tokens[verb_of(self.tokens, clause.head)]
        past = first.low in PAST_AUXILIARIES
        if verb.low in BE:
            return _PAST_BE if past else _PRESENT_BE | (_PRESENT_HAVE if first.low in HAVE else frozenset())
        if verb.low in HAVE:
            return _PAST_HAVE if past else _PRESENT_HAVE
        return forms_of(verb) | {verb.low}

    def _done_by(self, number: int, clause: Clause) -> None:
        """What a clause says needs its subject and the verb it goes with; its subject, a verb that tells of it."""
        head, doer = clause.head, self._doers[number]
        if head is None:
            return
        for k in range(clause.start, head.subject_end):
            named = forms_of(self.tokens[k]) | doer
            told = [self._verb(c) for n, c in enumerate(self.clauses) if n == number or self._tells_of(n, named)]
            self._bind([k], frozenset([COPULAR]).union(*told))
        nearest = self._verb(clause)
        led_by: dict[bool, Need] = {}
        for k in range(head.verb, clause.end):
            acting = is_ing(self.tokens[k])
            verb = k >= head.group_end and is_verb(self.tokens, k)
            if verb and (noun := self._qualified(k, head.group_end)) is not None:
                self._bind([k], forms_of(self.tokens[noun]))
            if verb and goes_on(self.tokens, k) and acting in led_by:
                nearest = led_by[acting]  # "to sell the flat and buy a boat": one verb leads both
            if doer:
                self._bind([k], doer)
            if k > head.verb:
                self._bind([k], nearest)
            if verb:
                led_by[acting], nearest = nearest, forms_of(self.tokens[k])

    def _qualified(self, k: int, start: int) -> int | None:
        """The word that a participle says something of: "a dog called Rex", "afraid of losing it"."""
        before = k - 2 if kind_of(self.tokens, k - 1) == "preposition" or self.tokens[k - 1].low == "of" else k - 1
        named = before >= start and content(self.tokens[before]) and not is_verb(self.tokens, before)
        return before if named else None

    def _tells_of(self, number: int, named: Forms) -> bool:
        """Whether the clause tells of the doing of what has these forms, or of something of theirs."""
        return bool(named & (self._doers[number] | self._pronouns[number]))

    def _antecedents(self) -> None:
        """A noun that a later clause tells of ("a concert featuring Bo") may be said with that clause's verb."""
        own = {k for clause in self.clauses for k in clause.subject if clause.start <= k < clause.end}
        for clause in self.clauses:
            for k in set(clause.subject) - own:
                self.needs[k] = {need | self._verb(clause) for need in self.needs[k]}

    def _operators(self, clause: Clause) -> None:
        """Denials, modals, doubts and, in the subject, quantities bear on what follows them in the clause."""
        first_verb = clause.head.verb if clause.head is not None else clause.start
        for k in range(clause.start, clause.end):
            token, after = self.tokens[k], range(k + 1, clause.end)
            if token.low in _GRADES:
                self._bind(after[:1], frozenset([token.low]))
            if token.low in _NARROWED:
                self._narrow(k, clause.end)
            if token.low in DENIALS:
                self._bind(after, DENIALS | {"cannot"})
            elif token.low in _WHOLE_CLAUSE:
                self._bind(range(clause.start, clause.end), forms_of(token) | {token.low})
            elif token.low in MODALS | _WEAKENERS or (k < first_verb and is_quantity(token)):
                self._bind(after, forms_of(token) | {token.low})

    def _narrow(self, k: int, end: int) -> None:
        """A denial, an "only" or an "always" needs all that narrows it: "not on Fridays" is less than "not"."""
        for i in range(k + 1, end):
            if self.tokens[i].low == "but" and self.tokens[k].low in DENIALS:
                break
            if content(self.tokens[i]) and not self._one_of_several(i, k, end):
                self._bind([k], forms_of(self.tokens[i]) | held_as(self.tokens[i]))

    def _one_of_several(self, i: int, start: int, end: int) -> bool:
        """Whether the word is in a phrase that "and", "or" or a comma joins to another of its kind."""
        low, high = i, i
        while low - 1 > start and content(self.tokens[low - 1]):
            low -= 1
        while high + 1 < end and content(self.tokens[high + 1]):
            high += 1
        joints = [self.tokens[low - 1], *self.tokens[high + 1 : min(high + 2, end)]]
        return any(token.low in ("and", "or", "nor") or token.text == "," for token in joints)

    def _infinitives(self, clause: Clause) -> None:
        """ "plans to move", "a chance to move", "has to move": what follows "to" needs it and what leads to it."""
        for k in range(clause.start + 1, clause.end - 1):
            if not is_infinitive(self.tokens, k):
                continue
            after, led = range(k + 1, clause.end), self.tokens[k - 1]
            self._bind(after, frozenset([INFINITIVE]))
            if content(led) and led.text == led.low and not led.low[0].isdigit():
                self._bind(after, forms_of(led))
            elif led.low in HAVE | BE | {"used", "need", "ought"}:
                self._bind(after, HAVE if led.low in HAVE else frozenset([led.low]))

    def _links(self, number: int, clause: Clause) -> None:
        """Conditions, purposes and times: their clauses, or what they are tied to, need not have come about."""
        lows = [token.low for token in self.tokens[clause.start : clause.end]]
        other = self._tied_to(number)
        place, tied = range(clause.start, clause.end), range(other.start, other.end) if other else range(0)
        opens = bool(clause.joiner) and (clause.head is not None or not number)
        both_past = other is not None and self._past(clause) and self._past(other)
        if phrase := contains_phrase(lows, NEITHER_HOLDS):
            if len(phrase) > 1 or (opens and phrase[0] in lows[:2]):
                self._bind([*place, *tied], _key(phrase))
        elif contains_phrase(lows, _NOMINAL):
            return
        elif phrase := contains_phrase(lows, FIRST_HOLDS):
            told = phrase[0] in _TEMPORAL and both_past
            if (len(phrase) > 1 or opens) and (not told or phrase[0] == "before"):
                self._bind(range(clause.start + _place(lows, phrase), clause.end), _key(phrase))
            if opens and phrase[0] in _TEMPORAL and not told:
                self._bind(tied, _key(phrase))
        elif opens and (phrase := contains_phrase(lows[:3], BOTH_HOLD)):
            timeless = phrase[0] in _TEMPORAL and not both_past
            if timeless:
                self._bind(place, _key(phrase))
            if timeless or any(self.tokens[k].low in DENIALS for k in tied):
                self._bind(tied, _key(phrase))  # "did not leave because": the denial may be of the link

    def _tied_to(self, number: int) -> Clause | None:
        """The clause that a connective ties its own to: the one before, or the next where it opens the statement."""
        other = number - 1 if number else 1
        return self.clauses[other] if other < len(self.clauses) else None

    def _past(self, clause: Clause) -> bool:
        return clause.head is not None and is_past(self.tokens[clause.head.verb])

    def _reports(self, number: int, clause: Clause) -> None:
        """What somebody said or thinks is theirs to the end of the statement; "that Bo left" needs what it hangs on."""
        head = clause.head
        if head is None:
            return
        if attributed(self.tokens, head):
            self._bind(range(head.group_end, len(self.tokens)), forms_of(self.tokens[head.group_end - 1]))
        hung = [k for k in range(clause.start) if content(self.tokens[k])]
        if number and clause.joiner in ("that", "whether") and head.has_subject and hung:
            place = range(clause.start, clause.end)
            self._bind(place, forms_of(self.tokens[hung[-1]]))
            for need in self.needs[hung[-1]]:
                if need & DENIALS:
                    self._bind(place, need)

    def _joined(self, clause: Clause) -> None:
        """Alternatives need their "or"; what follows a preposition needs it; "and Bo to milk" needs its own subject."""
        if clause.head is None:
            return
        place = range(clause.head.group_end, clause.end)
        lows = [token.low for token in self.tokens]
        if "or" in lows[place.start : place.stop] and not set(lows[clause.start : clause.end]) & DENIALS:
            self._bind(place, frozenset(["or"]))
        led: str | None = None
        for k in place:
            if kind_of(self.tokens, k) == "preposition":
                led = lows[k]
            elif lows[k] in ("and", "or", "but", ",") or is_verb(self.tokens, k):
                led = None
            elif led is not None:
                self._bind([k], frozenset([led]))
            if lows[k - 1] in ("and", "but", ",") and k > place.start:
                self._gapped(k, place)

    def _gapped(self, k: int, place: range) -> None:
        """ "plays chess with Bo and tennis with Cy", "owes Bo 40 euros and Cy 60": what follows needs its own head."""
        end = next((i for i in range(k, place.stop) if self.tokens[i].low in ("and", "but", ",")), place.stop)
        named = next((i for i in range(k, end) if content(self.tokens[i])), end)
        while named + 1 < end and content(self.tokens[named + 1]) and not is_quantity(self.tokens[named + 1]):
            named += 1
        if named >= end:
            return
        rest, before = self.tokens[named + 1 : end], {token.low for token in self.tokens[place.start : k - 1]}
        again = any(kind_of(rest, i) == "preposition" and token.low in before for i, token in enumerate(rest))
        opened = bool(rest) and (rest[0].low in ("a", "an", "the") or is_quantity(rest[0]))
        if again or (opened and self.tokens[named].is_name):
            self._bind(range(named + 1, end), forms_of(self.tokens[named]))


def _place(lows: Sequence[str], phrase: tuple[str, ...]) -> int:
    return next(k for k in range(len(lows)) if tuple(lows[k : k + len(phrase)]) == phrase)


def _key(phrase: tuple[str, ...]) -> Need:
    """The word by which a connective is known."""
    return frozenset([max(phrase, key=len)])
