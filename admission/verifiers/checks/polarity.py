"""Negation and modality: is the aligned statement said as done, denied, only planned, asked, or wished for?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from admission.text import stem, word_set
from admission.verifiers.checks.reading import Check, Evidence, Sentence, Text, read

_NEGATIONS = word_set("not no never neither nor none nobody nothing nowhere without cannot hardly barely scarcely")
_REFUSALS = frozenset(
    stem(word)
    for word in word_set("""
    refuse deny decline reject avoid fail forget stop quit cancel hate dislike loathe detest skip drop lack miss abandon
    unable unwilling impossible
    """)
)
_REFUSAL_PHRASES = ("gave up", "give up", "anything but", "far from", "instead of", "rather than")
_SCOPE = 4
_BOUNDARY = re.compile(r"[,;:.!?()]|\b(?:but|because|so|and|although|though|while|except)\b", re.IGNORECASE)

# Pairs that turn a statement round without a negation.
_OPPOSITES = """
    like/hate love/hate enjoy/hate accept/refuse accept/reject agree/refuse start/stop begin/end begin/stop
    buy/sell win/lose open/close open/shut rise/fall increase/decrease early/late cheap/expensive big/small
    large/small long/short high/low hot/cold new/old before/after first/last up/down on/off in/out arrive/leave
    remember/forget pass/fail borrow/lend best/worst better/worse more/less more/fewer easy/hard easy/difficult
    happy/sad happy/unhappy safe/dangerous young/old fast/slow full/empty near/far right/wrong true/false
    left/right north/south east/west online/offline keep/cancel keep/drop keep/sell keep/quit confirm/cancel
    approve/reject succeed/fail allow/forbid allow/ban above/below cheaper/dearer older/younger bigger/smaller
    larger/smaller longer/shorter faster/slower earlier/later higher/lower warmer/colder stay/leave pull/push
    mother/father husband/wife brother/sister son/daughter aunt/uncle morning/evening indoors/outdoors
    inside/outside broken/fixed clean/dirty alive/dead awake/asleep wet/dry loud/quiet strong/weak heavy/light
    rich/poor public/private single/married free/paid worth/worthless with/without gain/lose gained/lost
    won/lost bought/sold win/lost loves/hates likes/dislikes
"""
_OPPOSITE: dict[str, set[str]] = {}
for _pair in _OPPOSITES.split():
    _a, _b = (stem(word) for word in _pair.split("/"))
    _OPPOSITE.setdefault(_a, set()).add(_b)
    _OPPOSITE.setdefault(_b, set()).add(_a)

_PLANS = word_set("""
    plan plans planned planning intend intends intended aim aims aiming will going gonna about decided decide
    schedule scheduled booked next tomorrow ready soon upcoming
""")
_WISHES = word_set("""
    want wants wanted wish wishes hope hopes hoping hoped dream dreams dreaming would like love keen looking
    interested considering consider thinking fancy tempted eager aspire aspires try wanna
""")
_CHANCES = word_set("""
    may might maybe perhaps possibly probably could can likely unlikely should if unless whether suppose guess
    seems seem possible unsure undecided reckon
""")
_CLASSES: dict[str, frozenset[str]] = {
    "plan": _PLANS,
    "wish": _WISHES - {"like", "love", "looking", "try"},
    "chance": _CHANCES - {"can"},
}
_WISH_PHRASES = (
    "would like",
    "would love",
    "'d like",
    "'d love",
    "looking forward",
    "looking for",
    "hope to",
    "like to try",
)
_PLAN_PHRASES = ("going to", "about to", "set to", "has decided", "have decided", "'ve decided")
_PAST = re.compile(
    r"\b(?:yesterday|ago|already|last (?:week|month|year|night|\w+day)|just|finally|done|did|was|were|had)\b", re.I
)


def negated_words(text: Text) -> frozenset[int]:
    """Indexes of the words in reach of an odd number of negations: up to four content words after, in the clause."""
    turned: dict[int, int] = {}
    for place in _cues(text):
        left = _SCOPE
        for i in range(place + 1, len(text.words)):
            gap = text.text[text.words[i - 1].end : text.words[i].start]
            if left == 0 or (i > place + 1 and (_BOUNDARY.search(gap) or _BOUNDARY.fullmatch(text.words[i].lower))):
                break
            turned[i] = turned.get(i, 0) + 1
            left -= text.words[i].content
    return frozenset(i for i, times in turned.items() if times % 2)


@lru_cache(maxsize=16384)
def negated_places(text: str) -> frozenset[int]:
    """`negated_words` of a text that was read already, remembered."""
    return negated_words(read(text))


def check_negation(statement: Text, evidence: Evidence) -> Check | None:
    """`conflict` where words both sides share are denied on one side only, or one side has the opposite word.

    None when neither side denies anything about the words they share. The best aligned sentences count.
    """
    ours = negated_words(statement)
    mine = {w.stem: i in ours for i, w in enumerate(statement.words) if w.content}
    verdicts: list[Check] = []
    for sentence in evidence.top():
        theirs = negated_words(sentence.body)
        shared = {w.stem: i in theirs for i, w in enumerate(sentence.body.words) if w.stem in mine}
        flipped = [word for word, denied in shared.items() if denied != mine[word]]
        turned = [(a, b) for a in mine for b in _OPPOSITE.get(a, ()) if b in sentence.body.stems and b not in mine]
        # "Hate" denies what follows it already; read as the opposite of "like" as well it would cancel itself.
        turned = [(a, b) for a, b in turned if a not in shared and not (flipped and b in _REFUSALS)]
        if bool(flipped) != bool(turned):
            what = flipped or [pair[0] for pair in turned]
            strength = len(what) / max(1, len(shared))
            written = _written(statement, what)
            verdicts.append(
                Check("negation", "conflict", written, sentence.quoted, sentence.turn_id, min(1.0, strength))
            )
        elif shared and (any(shared.values()) or any(mine.values())):
            verdicts.append(Check("negation", "ok", _written(statement, shared)))
    denies = bool(ours)
    if not verdicts:
        said = any(negated_words(s.body) for top in evidence.top() for s in evidence.around(top, 1))
        return Check("negation", "ok" if said else "missing", ("not",)) if denies else None
    return next((v for v in verdicts if v.state == "ok"), verdicts[0])


def modality(text: Text) -> frozenset[str]:
    """Which of plan, wish, chance the text expresses; empty for a plain statement."""
    lowers = text.lowers
    found = {name for name, cues in _CLASSES.items() if lowers & cues}
    if text.has(*_WISH_PHRASES) or any(w.lower.endswith("'d") for w in text.words):
        found.add("wish")
    if text.has(*_PLAN_PHRASES) or any(w.lower.endswith("'ll") for w in text.words):
        found.add("plan")
    return frozenset(found)


def check_modality(statement: Text, evidence: Evidence) -> Check | None:
    """A plain obligation needs a plain statement; a planned, wished or possible one needs such a statement.

    `missing` when every best aligned sentence is of the other kind. None when both sides are plain.
    """
    ours = modality(statement)
    near = evidence.top()
    theirs = [(s, modality(s.body) | ({"question"} if s.question else frozenset())) for s in near]
    if not ours:
        if any(not kinds for _, kinds in theirs):
            return None
        sentence, kinds = theirs[0]
        return Check("modality", "missing", (), f"{_named(kinds)}: {sentence.quoted}", sentence.turn_id)
    if any(kinds & ours for _, kinds in theirs):
        return Check("modality", "ok", tuple(sorted(ours)))
    if all(_PAST.search(s.body.text) for s, kinds in theirs if not kinds) and any(not kinds for _, kinds in theirs):
        plain = next(s for s, kinds in theirs if not kinds)
        return Check("modality", "conflict", tuple(sorted(ours)), plain.quoted, plain.turn_id)
    return Check("modality", "missing", tuple(sorted(ours)), near[0].quoted, near[0].turn_id)


def denial_after(evidence: Evidence) -> Sentence | None:
    """A later turn that takes the best aligned one back, or answers it at once with a "no"."""
    anchor = evidence.anchor
    later = [s for s in evidence.ordered[anchor.index + 1 : anchor.index + 10] if s.turn_id != anchor.turn_id]
    for sentence in later:
        if _TAKEN_BACK.match(sentence.body.text):
            return sentence
        at_once = sentence is later[0] and sentence.speaker != anchor.speaker and not anchor.question
        if at_once and _DENIED.match(sentence.body.text):
            return sentence
    return None


_TAKEN_BACK = re.compile(
    r"(?:(?:ha|haha|oh|ah|well|um|er|no|sorry),?\s+){0,3}(?:(?:just |only )?kidding|i was wrong|correction\b"
    r"|scratch that|i meant\b|i misspoke|my mistake|i made that up|not (?:true|any more|anymore)\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:(?:oh|ah|well|um|er|sorry),?\s+)?(?:no|nope|wrong|not true)\s*[,.!](?!\s*problem)", re.IGNORECASE
)


def _cues(text: Text) -> Iterable[int]:
    for i, word in enumerate(text.words):
        if word.lower in _NEGATIONS or word.lower.endswith("n't") or word.stem in _REFUSALS:
            following = text.words[i + 1].lower if i + 1 < len(text.words) else ""
            if word.lower == "no" and (
                following in ("", "problem", "doubt") or text.text[word.end : word.end + 1] == ","
            ):
                continue
            if word.lower == "not" and following == "only":
                continue
            yield i
    for phrase in _REFUSAL_PHRASES:
        place = text.text.lower().find(phrase)
        if place >= 0:
            inside = [i for i, w in enumerate(text.words) if place <= w.start < place + len(phrase)]
            yield from inside[-1:]


def _written(statement: Text, stems: Iterable[str]) -> tuple[str, ...]:
    wanted = set(stems)
    return tuple(dict.fromkeys(w.text for w in statement.words if w.stem in wanted))


def _named(kinds: Iterable[str]) -> str:
    first = min(kinds)
    return {"plan": "only planned", "wish": "only wished", "chance": "only possible", "question": "only asked"}[first]
