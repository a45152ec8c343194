"""Coordinated sentences and verb phrases taken apart, each with the subject it shares; what is in doubt stays whole."""

from __future__ import annotations

from dataclasses import dataclass

from admission.obligations.clauses import Head, Token, base, find_head, is_finite, is_ing, kinds, starts_clause
from admission.obligations.verbs import NOUN_LIKE
from admission.obligations.vocabulary import (
    ADVERBS,
    BE,
    CLAUSE_OPENERS,
    DETERMINERS,
    DO,
    FINITE_AUXILIARIES,
    HAVE,
    INTENTIONS,
    MODALS,
    NEGATIONS,
    NEGATIVE_GOVERNORS,
    NUMBER_WORDS,
    OBJECT_PRONOUNS,
    ORDER_ADVERBS,
    PREPOSITIONS,
    SCOPED,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    UNSHARED_SUBJECTS,
)
from admission.text import word_set

_EXCEPT_AFTER = word_set("nobody nothing all anything everyone everything none anyone")


@dataclass(frozen=True, slots=True)
class Unit:
    """One conjunct: its text with the shared subject, and what the sentence says up to its end.

    `linked` says that an order or result word ("and then") ties it to what came before, `listed` that only a comma
    does: the sentence cannot end there.
    """

    text: str
    upto: str
    linked: bool = False
    listed: bool = False


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place to cut: the conjunction's index, where the conjunct begins, what it is given in front, how sure it is."""

    at: int
    start: int
    prefix: str
    tentative: bool
    linked: bool


def conjuncts(sentence: str, tokens: list[Token], head: Head, lead: str) -> list[Unit]:
    """The conjuncts of a sentence whose main clause has `head`; `lead` ("In May, ") goes before each. One if unsafe."""
    cuts = _cuts(sentence, tokens, head)
    # Comma cuts without a final "and" are more often appositions than lists.
    while cuts and cuts[-1].tentative:
        cuts.pop()
    units: list[Unit] = []
    start, prefix = head.start, ""
    for n, cut in enumerate([*cuts, None]):
        end = tokens[cut.at - 1].end if cut is not None else tokens[-1].end
        body = sentence[tokens[start].start : end].strip()
        before = cuts[n - 1] if n else None
        tied = before is not None and before.linked
        units.append(Unit(lead + prefix + body, sentence[:end], tied, before is not None and before.tentative))
        if cut is not None:
            start, prefix = cut.start, cut.prefix
    return units


def _cuts(sentence: str, tokens: list[Token], head: Head) -> list[_Cut]:
    cuts: list[_Cut] = []
    subject = sentence[tokens[head.start].start : tokens[head.subject_end - 1].end] + " " if head.has_subject else ""
    shared = _shareable(tokens, head)
    current = head
    embedded = False
    k = head.group_end
    while k < len(tokens):
        token = tokens[k]
        if _joins_less(tokens, k, current):
            embedded = True
        if token.text == ";" and (own := starts_clause(tokens, k + 1, len(tokens))) is not None:
            cuts.append(_Cut(k, k + 1, "", tentative=False, linked=False))
            current, shared, embedded = own, _shareable(tokens, own), False
            subject = sentence[tokens[own.start].start : tokens[own.subject_end - 1].end] + " "
            k = own.group_end
            continue
        if token.low in ("and", "but") or token.text == ",":
            start, linked = _after(tokens, k)
            subject_at = start
            while subject_at < len(tokens) and tokens[subject_at].low in ADVERBS - SCOPED:
                subject_at += 1
            own = None if token.text == "," and start == k + 1 else starts_clause(tokens, subject_at, len(tokens))
            if own is not None and _may_start(tokens, k, current, embedded):
                cuts.append(_Cut(k, start, "", tentative=False, linked=linked))
                current, shared, embedded = own, _shareable(tokens, own), False
                subject = sentence[tokens[own.start].start : tokens[own.subject_end - 1].end] + " "
                k = own.group_end
                continue
            prefix = _prefix(sentence, tokens, current, start, k, subject) if shared and not embedded else None
            if prefix is not None and own is None:
                comma = token.text == "," and start == k + 1
                cuts.append(_Cut(k, start, prefix, tentative=comma, linked=linked))
                if prefix == subject:
                    again = find_head(tokens, start, len(tokens))
                    if again is not None:
                        current = Head(start, start, again.verb, again.group_end)
                        shared = not any(t.low in SCOPED for t in tokens[start : again.verb])
                        k = max(current.group_end, start + 1)
                        continue
                k = start + 1
                continue
        elif _embedded_verb(tokens, k, current):
            embedded = True
        k += 1
    return cuts


def _joins_less(tokens: list[Token], k: int, head: Head) -> bool:
    """An "and" or "but" that cannot join clauses: "supports and helps Bo" (one object for both), "nobody but Bo"."""
    if tokens[k].low not in ("and", "but", ","):
        return False
    before = tokens[k - 1].low
    if tokens[k].low == "but" and before in _EXCEPT_AFTER:
        return True
    bare = k == head.group_end and bool(kinds(tokens[k - 1]))
    return bare or (before in PREPOSITIONS - {"in", "on", "up", "out", "off", "along", "before", "over", "by"})


def _after(tokens: list[Token], k: int) -> tuple[int, bool]:
    """Where the conjunct after the mark at `k` starts, and whether an order or result word ties it to what precedes."""
    start = k + 1
    if tokens[k].text == "," and start < len(tokens) and tokens[start].low in ("and", "but"):
        start += 1
    linked = False
    while start < len(tokens) and tokens[start].low in ORDER_ADVERBS | {"so", "therefore", "thus", "hence"}:
        linked = True
        start += 1
    return start, linked


def _may_start(tokens: list[Token], k: int, head: Head, embedded: bool) -> bool:
    """Whether a clause with its own subject behind the mark at `k` is a main clause, not a second embedded one."""
    if tokens[k].text == "," and tokens[k + 1].low == "but":
        return True
    # "..., but he and his family are": the "and" is inside the subject.
    before, mark = tokens[k - 1], tokens[k - 2].low
    if before.low in SUBJECT_PRONOUNS or (before.is_name and mark in ("but", "and", ",", "so")):
        return False
    # "leaves before the boat sinks and the crew drowns": without a comma it may belong to the clause before.
    subordinate = any(t.low in SUBORDINATORS for t in tokens[head.group_end : k])
    return not embedded and (tokens[k].text == "," or not subordinate)


def _shareable(tokens: list[Token], head: Head) -> bool:
    """Whether a second verb phrase may be given this subject without its meaning changing."""
    subject = tokens[head.start : head.subject_end]
    if any(t.low in SCOPED for t in tokens[head.subject_end : head.verb]):
        return False
    if not subject:
        return tokens[head.verb].low not in FINITE_AUXILIARIES
    first = subject[0].low
    return first not in UNSHARED_SUBJECTS and not first.isdigit() and first not in NUMBER_WORDS


def _prefix(sentence: str, tokens: list[Token], head: Head, start: int, conj: int, subject: str) -> str | None:
    """What a verb phrase at `start` needs in front to stand alone; None where it is not one, or not safely."""
    verb_at = start
    while verb_at < len(tokens) and tokens[verb_at].low in ADVERBS:
        verb_at += 1
    if verb_at >= len(tokens) or tokens[verb_at].text != tokens[verb_at].low:
        return None
    if _finite_conjunct(tokens, head, verb_at):
        return subject
    forms = kinds(tokens[verb_at])
    if any(t.low in NEGATIONS for t in tokens[head.verb : head.group_end + 1]) or not _continues(tokens, verb_at):
        return None
    first = tokens[head.verb]
    group = tokens[head.verb : head.group_end]
    own = subject if head.start == head.subject_end else ""
    said = own + sentence[tokens[head.start].start :]
    shift = len(said) - len(sentence)

    def upto(k: int) -> str:
        return said[: tokens[k].end + shift] + " "

    if "base" in forms and first.low in MODALS:
        return upto(head.verb)
    if "base" in forms and (to := _governing_to(tokens, head, conj)) is not None:
        return upto(to)
    if first.low in BE and len(group) > 1 and is_ing(group[-1]) and is_ing(tokens[verb_at]) and "ing" in forms:
        inner = tokens[head.group_end : conj]
        return None if any(is_ing(t) for t in inner) else upto(head.verb)
    if first.low in HAVE and "participle" in forms and kinds(group[-1]) & {"participle"} and len(group) > 1:
        return upto(head.verb)
    return None


def _governing_to(tokens: list[Token], head: Head, conj: int) -> int | None:
    """The one "to" right behind the verb group of a verb of planning: "plans to X and Y"."""
    to = [i for i in range(head.group_end, conj) if tokens[i].low == "to" and "base" in kinds(tokens[i + 1])]
    if len(to) != 1 or to[0] != head.group_end:
        return None
    before = tokens[head.group_end - 1]
    governor = base(before)
    planned = governor in INTENTIONS or before.low in INTENTIONS | {"used", "able", "started", "has"}
    inner = tokens[to[0] + 2 : conj]
    return to[0] if planned and governor not in NEGATIVE_GOVERNORS and not any(is_ing(t) for t in inner) else None


def _finite_conjunct(tokens: list[Token], head: Head, k: int) -> bool:
    """Whether the verb at `k` is finite and parallel to the main verb, not a noun or participle that looks like one."""
    token = tokens[k]
    main = tokens[head.verb]
    plural = "base" in kinds(main) and main.low not in FINITE_AUXILIARIES
    if token.low in FINITE_AUXILIARIES - {"'s", "'d"}:
        return _continues(tokens, k)
    forms = kinds(token)
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    if "s" in forms:
        if plural or main.low in ("are", "were", "am", "have", "'re", "'m", "'ve"):
            return False
        if base(token) not in NOUN_LIKE:
            return _continues(tokens, k)
        # "walks and talks with friends": a noun-like form needs an object; "plays chess" is no compound noun.
        return _object_follows(following, strict=True) or (_continues(tokens, k) and _bare_noun(tokens[k + 1]))
    if "past" in forms:
        if "base" in forms and ("past" not in kinds(main) or any(t.low == "to" for t in tokens[head.group_end : k])):
            return False
        if following is not None and following.low == "by" and "participle" in forms:
            return False  # "felt inspired and encouraged by the show"
        if main.low in HAVE and head.group_end - head.verb > 1 and "participle" in forms:
            return False  # shares the "has"
        if main.low in BE | HAVE and "participle" in forms:
            return _object_follows(following, strict=True) and main.low not in ("was", "were")
        if not ("past" in kinds(main) or main.low in ("was", "were", "did", "had")) and "participle" in forms:
            return _object_follows(following, strict=True)
        return "participle" not in forms or _object_follows(following) or k + 1 >= len(tokens)
    return plural and "base" in forms and token.low not in NOUN_LIKE and _object_follows(following)


def _continues(tokens: list[Token], k: int) -> bool:
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    return following is not None and following.is_word and following.low not in ("and", "or", "of")


def _object_follows(token: Token | None, *, strict: bool = False) -> bool:
    """Something only a verb takes: a determiner, pronoun, name or number; a preposition or "-ing" unless `strict`."""
    if token is None or not token.is_word:
        return False
    if token.low in DETERMINERS or token.is_possessive or token.low in OBJECT_PRONOUNS | SUBJECT_PRONOUNS:
        return True
    if token.is_name or token.opaque or token.low.isdigit() or token.low in NUMBER_WORDS or token.low in ("to", "that"):
        return True
    return not strict and (token.low in PREPOSITIONS or is_ing(token) or token.low in ADVERBS)


def _bare_noun(token: Token) -> bool:
    return token.low not in PREPOSITIONS | ADVERBS | FINITE_AUXILIARIES and token.text.isalpha() and not is_ing(token)


def _joins_clause(tokens: list[Token], k: int) -> bool:
    """Whether "that" at `k` opens a clause ("afraid that boats leak"), not "likes that film"."""
    before, following = tokens[k - 1], tokens[k + 1] if k + 1 < len(tokens) else None
    if before.low in PREPOSITIONS or following is None:
        return False
    opens = following.low in DETERMINERS | SUBJECT_PRONOUNS or following.is_possessive or following.is_name
    return opens or not kinds(before) & {"base", "s", "past", "ing"}


def _embedded_verb(tokens: list[Token], k: int, head: Head) -> bool:
    """A finite verb inside the verb phrase: a clause within the clause, to which a later "and" may belong."""
    token = tokens[k]
    if token.low in CLAUSE_OPENERS or (token.low == "that" and _joins_clause(tokens, k)):
        return True
    if k <= head.group_end - 1 or (token.low in DO and tokens[k - 1].low in ADVERBS):
        return False
    if token.low in FINITE_AUXILIARIES - {"'s"}:
        return True
    forms = kinds(token)
    before = tokens[k - 1]
    introduced = before.low in SUBJECT_PRONOUNS or before.low in ("who", "which", "that", "where")
    if introduced and forms & {"base", "s", "past"}:
        return True
    if any(t.low in SUBORDINATORS for t in tokens[head.group_end : k]) and is_finite(tokens, k, plural=True):
        return True
    if not is_finite(tokens, k) or base(token) in NOUN_LIKE:
        return False
    if "s" in forms:
        return True
    return "participle" not in forms or before.is_name
