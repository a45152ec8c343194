"""The rule-based splitter: a candidate's memory to the few complete statements that must all hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from admission.language import is_foreign
from admission.obligations.clauses import Head, Token, find_head, is_finite, is_ing, kinds, tokenise
from admission.obligations.coordination import conjuncts
from admission.obligations.layout import claimless, is_question, looks_like_data, statements
from admission.obligations.qualifications import attributed, denials, is_time, restricted, type_of, without_time
from admission.obligations.references import Subject, stand_alone, subject_of
from admission.obligations.relations import (
    Link,
    find_link,
    first_side,
    leading_link,
    linked_words,
    second_side,
)
from admission.obligations.vocabulary import ATTRIBUTION_PHRASES, HEDGES, LINKS, PREPOSITIONS, RELATIVE
from admission.records import Candidate, Obligation, ObligationType
from admission.text import word_set

MOST = 24
# Characters of a sentence that is still read by rule.
_LONGEST = 700
_ADDERS = word_set("which who whose where including such especially")
_BRACKET = re.compile(r"\s\((?P<clause>[^()\n]{5,300})\)")
_AND = re.compile(r"^\s*(?:and|but|also|by the way|btw|note that)\b[\s,]*", re.IGNORECASE)
_LINKERS = word_set("however also additionally moreover furthermore currently overall recently last next")


@dataclass(frozen=True, slots=True)
class Draft:
    """An obligation before it has its id."""

    text: str
    type: ObligationType


def split(candidate: Candidate) -> tuple[Obligation, ...]:
    """The obligations of a candidate's memory, by rule, in text order with ids "o1", "o2", ...

    Each is a stand-alone statement; together they say the memory, and none says more. Text that cannot be split safely
    is one obligation; text without a claim (empty, a greeting, a question) has none. At most `MOST` are returned: a
    longer memory is taken by whole sentences, then by groups of sentences. Never raises on any text.
    """
    found = statements(candidate.memory)
    english = not is_foreign(candidate.memory)
    if english:
        found = [part for text in found for part in _bracketed(text)]
    if len(found) > MOST:
        return numbered([Draft(b, type_of(b) if english else "fact") for b in _blocks(found, english)])
    groups: list[list[Draft]] = []
    standing: list[str] = []
    said: list[str] = []
    subject: Subject | None = None
    tied_before = False
    for text in found:
        if not english or len(text) > _LONGEST or looks_like_data(text) or text.startswith("```"):
            standing.append(_closed(text))
            groups.append([Draft(standing[-1], type_of(text) if english else "fact")])
            continue
        drafts, alone, tied = _sentence(text, subject, said)
        if tied and tied_before:
            groups[-1] = []  # the sentence before it is said again, with what it was tied to
        groups.append(drafts)
        standing.append(_closed(alone))
        said.append(alone)
        subject = subject_of(alone) or subject
        tied_before = tied
    return numbered(_bounded(standing, groups))


def _bracketed(text: str) -> list[str]:
    """A sentence, and the clauses it has in brackets as sentences after it: "Bo (he is 40) sings." claims two things.

    A clause that "and" or "but" adds gets the sentence's subject where it has none. What is no clause ("(May 2023)"),
    or says of something that is in doubt ("(who sings)", "(called Mimi)"), stays where it is.
    """
    if "(" not in text or len(text) > _LONGEST or looks_like_data(text) or text.startswith("```"):
        return [text]
    outer, inner = text, list[str]()
    for match in _BRACKET.finditer(text):
        clause = _AND.sub("", match["clause"]).strip(" .,;")
        tokens = tokenise(clause)
        head = find_head(tokens, 0, 40)
        if head is None or is_question(match["clause"]) or tokens[0].low in RELATIVE:
            continue
        if not head.has_subject:
            who = subject_of(text[: match.start()] + text[match.end() :])
            if who is None or clause == match["clause"].strip(" .,;"):
                continue
            clause = f"{who.text} {clause}"
        outer = outer.replace(match.group(), "", 1)
        inner.append(_closed(_capital(clause)))
    return [outer, *inner] if inner and not claimless(outer) else [text]


def numbered(drafts: Sequence[Draft]) -> tuple[Obligation, ...]:
    """Drafts without blanks and exact repetitions, with ids in order."""
    kept = list({d.text.strip(): d for d in reversed(drafts) if d.text.strip()}.values())[::-1]
    return tuple(Obligation(id=f"o{n}", text=d.text.strip(), type=d.type) for n, d in enumerate(kept, start=1))


def _bounded(standing: list[str], groups: list[list[Draft]]) -> list[Draft]:
    """All drafts where they are few enough; else, from the place where room runs out, each sentence as a whole."""
    kept: list[Draft] = []
    for n, group in enumerate(groups):
        room = MOST - len(kept) - (len(groups) - n - 1)
        kept += group if len(group) <= room else [Draft(standing[n], type_of(standing[n]))]
    return kept


def _blocks(found: list[str], english: bool) -> list[str]:
    """More than `MOST` sentences in `MOST` groups, the first sentence of each made to stand alone where it can."""
    size = -(-len(found) // MOST)
    subject: Subject | None = None
    blocks: list[str] = []
    for i in range(0, len(found), size):
        block = found[i : i + size]
        if english and i:
            block[0] = _capital(stand_alone(block[0], subject, found[i - 1]) or block[0])
        blocks.append("\n".join(block))
        for text in block if english else ():
            subject = subject_of(text[:_LONGEST]) or subject
    return blocks


def _sentence(text: str, subject: Subject | None, said: list[str]) -> tuple[list[Draft], str, bool]:
    """Drafts of one sentence, the sentence as it stands alone, and whether it only does together with the one before.

    `subject` is the last named subject, `said` the sentences before, each as it stands alone.
    """
    if not said:
        return _clauses(text), text, False
    together = f"{said[-1]} {_closed(text)}" if len(said[-1]) <= _LONGEST else _closed(text)
    context = " ".join(said[-3:])
    tokens = tokenise(text)
    link = linked_words([t.low for t in tokens], LINKS)
    if link:
        rest = text[tokens[link].start :].lstrip(" ,") if link < len(tokens) else ""
        alone = stand_alone(rest, subject, context) if find_head(tokenise(rest), 0, 40) is not None else None
        drafts = _clauses(_capital(alone))[:3] if alone is not None else []
        return [*drafts, Draft(together, "relation")], _capital(alone) if alone is not None else together, False
    alone = stand_alone(text, subject, context)
    if alone is None:
        return [Draft(together, type_of(text))], together, True
    return _clauses(_capital(alone)), _capital(alone), False


def _clauses(text: str) -> list[Draft]:
    """Drafts of a sentence that stands alone."""
    tokens = tokenise(text)
    whole = Draft(_closed(text), type_of(text))
    lead, start = _lead(text, tokens)
    if lead is None:
        return [whole]
    dated = lead != "" and is_time(lead.strip(" ,")) and find_head(tokens, 1, start - 1) is None
    if lead and not dated and (found := leading_link(tokens, start - 1)) is not None:
        return _led(text, tokens, found, start)
    end = _last_word(tokens)
    head = find_head(tokens, start, end)
    # "Not only did Ana ...": the denial in front is taken back later in the sentence.
    if head is None or attributed(tokens, head) or tokens[0].low in ("not", "never", "hardly"):
        return [whole]
    drafts: list[Draft] = []
    units = conjuncts(text, tokens[:end], head, lead)
    who = subject_of(text)
    for n, unit in enumerate(units):
        alone = stand_alone(unit.text, who, units[n - 1].upto) if n else unit.text
        if alone is not None:
            drafts += _unit(_capital(alone))
        if unit.linked or alone is None:
            # All that was said so far is said again in this one: of what came before, only the bare facts stay.
            said = _closed(units[-1].upto if unit.listed else unit.upto)
            drafts = drafts[:1] + [d for d in drafts[1:] if d.type == "fact" and not said.startswith(d.text[:-1])]
            drafts.append(Draft(said, "relation" if unit.linked else type_of(said)))
            if unit.listed:
                break
    return drafts


def _lead(text: str, tokens: list[Token]) -> tuple[str | None, int]:
    """The phrase before the main clause ("In May, ") and where the clause begins; (None, 0) where it governs it."""
    comma = next((i for i, t in enumerate(tokens) if t.text == ","), None)
    first = tokens[0].low if tokens else ""
    if not comma or comma > 20 or comma + 2 >= len(tokens):
        return "", 0
    phrase = text[: tokens[comma].start]
    lows = [t.low for t in tokens[:comma]]
    if any(tuple(lows[: len(p)]) == p for p in ATTRIBUTION_PHRASES) or lows[0] in HEDGES:
        return None, 0
    subordinate = leading_link(tokens, comma) is not None
    adverbial = first in PREPOSITIONS | _LINKERS or is_time(phrase) or (comma == 1 and first.endswith("ly"))
    if not subordinate and (not adverbial or any(is_finite(tokens, k) for k in range(comma))):
        return "", 0
    return text[: tokens[comma + 1].start], comma + 1


def _led(text: str, tokens: list[Token], link: Link, start: int) -> list[Draft]:
    """ "Because B, A": A and B where they hold, and the whole."""
    drafts: list[Draft] = []
    sub = text[tokens[link.end].start : tokens[start - 1].start].strip()
    main = text[tokens[start].start :].strip()
    who = subject_of(sub)
    if link.second_holds and find_head(tokenise(sub), 0, 40) is not None and stand_alone(sub, None, "") is not None:
        drafts.append(Draft(_closed(_capital(sub)), type_of(sub)))
    if link.first_holds and (alone := stand_alone(main, who, sub)) is not None:
        drafts.append(Draft(_closed(_capital(alone)), type_of(alone)))
    return [*drafts, Draft(_closed(text), "relation")]


def _unit(text: str) -> list[Draft]:
    """Drafts of one conjunct: the parts a verifier may see differently, and the whole of it."""
    tokens = tokenise(text)
    lead, start = _lead(text, tokens)
    whole = Draft(_closed(text), type_of(text))
    head = find_head(tokens, start, len(tokens)) if lead is not None else None
    if head is None or attributed(tokens, head):
        return [whole]
    link = find_link(tokens, head)
    if link is not None:
        return _linked(text, tokens, head, link)
    if denied := denials(text):
        return [Draft(d, "qualification") for d in denied]
    if (main := _without_addition(text, tokens, head)) is not None:
        return [Draft(main, type_of(main)), whole]
    if lead and is_time(lead.strip(" ,")) and (short := _unled(text, tokens, start)) is not None:
        return [Draft(short, "fact"), Draft(whole.text, "qualification")]
    bare = without_time(text)
    if bare is not None:
        return [Draft(bare, "fact"), Draft(whole.text, "qualification")]
    return [whole]


def _unled(text: str, tokens: list[Token], start: int) -> str | None:
    """A statement without its leading date, by the same rule as without a closing one."""
    lead = text[: tokens[start - 1].start]
    moved = f"{text[tokens[start].start :].rstrip(' .!')} {lead[0].lower()}{lead[1:]}"
    short = without_time(moved)
    return _capital(short) if short is not None else None


def _linked(text: str, tokens: list[Token], head: Head, link: Link) -> list[Draft]:
    drafts: list[Draft] = []
    first = first_side(text, tokens, link)
    if link.first_holds and first:
        drafts.append(Draft(first, type_of(first)))
    if link.second_holds:
        alone = stand_alone(second_side(text, tokens, link), subject_of(text), first)
        if alone is not None and not restricted(tokenise(alone)[:1]):
            drafts.append(Draft(_closed(_capital(alone)), type_of(alone)))
    return [*drafts, Draft(_closed(text), "relation")]


def _without_addition(text: str, tokens: list[Token], head: Head) -> str | None:
    """The statement before a trailing addition (", which ...", ", assuring him ...", ", including ...")."""
    comma = next((k for k in range(head.group_end, len(tokens) - 1) if tokens[k].text == ","), None)
    if comma is None:
        return None
    after, following = tokens[comma + 1], tokens[comma + 2 : comma + 3]
    acting = is_ing(after) and "ing" in kinds(after)
    if acting and any(is_ing(t) for t in tokens[head.group_end : comma]):
        # "enjoys hiking, painting and chess" is a list.
        acting = not any(t.low in ("and", "or") for t in tokens[comma + 2 :])
    described = "participle" in kinds(after) and bool(following) and following[0].low in PREPOSITIONS
    if acting or described or after.low in _ADDERS:
        return text[: tokens[comma].start].rstrip() + "."
    return None


def _last_word(tokens: list[Token]) -> int:
    end = len(tokens)
    while end and tokens[end - 1].text in ".!…":
        end -= 1
    return end


def _capital(text: str) -> str:
    """With a capital where a small word, not a code name or an address, opens the statement."""
    first = text.split(" ", 1)[0]
    return text[0].upper() + text[1:] if first.isalpha() and first.islower() else text


def _closed(text: str) -> str:
    """With a full stop where a sentence has no end mark."""
    text = text.strip().rstrip(",;")
    return f"{text}." if text and (text[-1].isalnum() or text[-1] in ")\"'”’%") else text
