"""What people say about the use of memories (forget this, do not tell her, he may see it until Friday), read by rule.

A directive is read from a turn and its speaker, never from what a memory seems to be about. The reader is conservative:
it takes requests and statements of the plainest English forms, and whatever it does not recognise is no directive.
What a directive does depends on who gave it (`Authority`); one by somebody without authority does nothing and is
reported. How a forget directive finds the records it means is in `forgetting`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from admission.reading.directive_times import until_when, without_end
from admission.reading.directive_words import named_values, topic_stems
from admission.records import Record
from admission.text import normalise, sentences, word_set

DirectiveKind = Literal["forget", "restrict", "grant", "revoke"]

LONGEST = 600
"""A sentence of more characters is no plain request and is not read: patterns would take long over it."""

_LEAD = (
    r"(?:(?:yes|no|ok|okay|also|please|now|then|actually|and|so|thanks|thank you|again|just|right|correct)\b[,.!]?\s+"
    r"|(?:can|could|would|will) you\s+|i(?:'d| would)? (?:want|need|like) you to\s+"
    r"|(?:we|you) (?:should|must|need to)\s+"
    r"|i(?:'m| am) (?:now )?(?=\w+ing\b))*"
)
_FORGETS = r"(?:delet(?:e|ing)|eras(?:e|ing)|forget(?:ting)?|purg(?:e|ing)|wip(?:e|ing)|expung(?:e|ing))"
# These say what is done with much else: they count where the thing is kept in memory, or is a thing that is noted down.
_MAY_FORGET = r"(?:remov(?:e|ing)|clear(?:ing)?|retir(?:e|ing)|discard(?:ing)?|drop(?:ping)?)"
_GONE = r"(?:deleted|erased|forgotten|purged|wiped|expunged|removed|cleared|unavailable)"
_KEPT = r"(?:retained|kept(?: around)?|stored|remembered|restated|repeated|mentioned again)"
_STORE = re.compile(
    r"\bfrom (?:\w+[\s-]){0,4}(?:memory|memories|records?|charts?|notes?|logs?|files?|history|storage)\b", re.I
)
_NOTED = re.compile(
    r"\b(?:numbers?|notes?|contacts?|labels?|tokens?|mappings?|lines?|alias(?:es)?|details?|entr(?:y|ies)"
    r"|address(?:es)?|emails?|memory|memories|passwords?|credentials?|records?|wording|phrases?|values?)\b",
    re.I,
)
_ACCESS = re.compile(r"\b(?:access|permissions?|sharing)\b", re.I)
_LATER = re.compile(r"\b(?:after|once|when|as soon as)\s+(?!\d)\w+", re.I)
_CONDITION = re.compile(r"^(?:after|once|when|as soon as|if)\b", re.I)
_UNDONE = re.compile(r"\b(?:restore|recover|undelete|unauthori[sz]ed|cannot|can't|could not|refused)\b", re.I)
_ASKED = re.compile(rf"^{_LEAD}(?:please )?", re.I)
_CAN_YOU = re.compile(r"^(?:(?:please|and|also|so)[, ]+)*(?:can|could|would|will) you\b", re.I)
# A list of requests ("delete A, delete B"), and what stands beside them ("; keep only C").
_SPLIT = re.compile(
    rf";\s+|,?\s+but\s+|(?:,\s+(?:and\s+)?|\s+and\s+)(?=(?:please )?{_FORGETS}\s)"
    r"|,?\s+and\s+(?=(?:only\s+)?(?:keep|keeping|leave|left|use|using)\b)",
    re.I,
)
_COLON = re.compile(r"(?<=\w):\s+")
# "The deleted number stays deleted": talk about a deletion, not one.
_STATE = re.compile(r"\b(?:is|are|was|were|remains?|stays?|must|should|cannot|will|may)\b", re.I)

_FORGET_FORMS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(form, re.I), done)
    for form, done in (
        (rf"^{_LEAD}{_FORGETS}\s+(?P<what>.+)", False),
        (rf"^{_LEAD}(?P<maybe>{_MAY_FORGET})\s+(?P<what>.+)", False),
        (rf"^{_LEAD}(?:do not|don't|never) (?:retain|keep|store|remember|save)\s+(?P<what>.+)", False),
        (
            rf"^{_LEAD}i(?:'d| would)?(?: also)? (?:want|need|like)\s+(?P<what>.+?)\s+(?:to be )?"
            rf"(?:fully |permanently )?{_GONE}\b.*",
            False,
        ),
        (rf"^{_LEAD}i (?:also )?(?:do not|don't) want\s+(?P<what>.+?)\s+(?:to be )?{_KEPT}\b.*", False),
        (
            rf"^(?P<what>.+?)\s+(?:should|must|is to|are to|needs? to)(?: now)? be (?:treated as |considered )?"
            rf"(?:\w+ and )?{_GONE}\b.*",
            False,
        ),
        (rf"^(?P<what>.+?)\s+(?:should|must)(?: not|n't) be {_KEPT}\b.*", False),
        (r"^(?P<told>deleted|erased|purged|removed|cleared)\s+(?P<what>.+)", True),
        (r"^.{0,60}\b(?:deletion|erasure|removal) request (?:\w+ ){0,2}for\s+(?P<what>.+)", True),
        (
            r"^(?P<named>.+?),?\s+(?:(?:was|were|has been|have been|is|are)(?: now)? )?(?:retired and )?"
            r"(?:deleted|erased|purged|removed|cleared)(?: (?:from|per|at|as|by) .*)?$",
            True,
        ),
    )
)

_WHO = r"(?P<who>(?:my |your |the |her |his |their )?[\w'.]+(?: (?-i:[A-Z])[\w'.]+)?)"
_HEAR = r"(?:hear|receive|see|know|get|have|read|access|view|be told|use)"
_TAKE = r"(?:revok(?:e|ing)|withdraw(?:ing)?|remov(?:e|ing)|end(?:ing)?|cancel(?:ling)?)"
_TAKEN = r"(?:(?:is|was|has been)(?: now)? )?(?:\w+ )?(?:revoked|removed|withdrawn)"
_KEEP = rf"^{_LEAD}(?P<only>keep|limit|restrict)"
_NEVER = r"(?:do not|don't|never)"
_ACCESS_TEXTS: tuple[tuple[DirectiveKind, str], ...] = (
    ("revoke", rf"\b{_TAKE}\s+(?:all )?{_WHO}(?:'s?)?\s+(?P<what>.*?)(?:access|sharing)\b"),
    ("revoke", rf"\b{_TAKE}\s+(?P<what>.*?)access (?:for|of|from)\s+{_WHO}\b"),
    ("revoke", rf"\baccess for {_WHO}(?P<what>) {_TAKEN}\b"),
    ("revoke", rf"(?:^|: ){_WHO}(?:'s?)?\s+(?P<what>[^,;]*?)access {_TAKEN}\b"),
    ("revoke", rf"\b{_WHO} no longer has\s+(?P<what>.*?)access\b"),
    ("revoke", rf"\bi no longer want {_WHO} to {_HEAR}\s+(?P<what>.+)"),
    ("revoke", rf"\b{_WHO} (?:should|may|must|can) no longer {_HEAR}\s+(?P<what>.+)"),
    ("revoke", rf"\b{_WHO} (?:should|may|must|can)(?:not| not) {_HEAR}\s+(?P<what>(?:any|even|further|future).+)"),
    ("restrict", rf"^{_LEAD}{_NEVER} tell {_WHO}(?: about)?\s+(?P<what>.+)"),
    ("restrict", rf"^{_LEAD}{_NEVER} (?:share|discuss|show|give|send)\s+(?P<what>.+?)\s+(?:with|to)\s+{_WHO}\b"),
    ("restrict", rf"\b{_WHO} (?:should|may|must|can)(?:not| not) {_HEAR}\s+(?P<what>.+)"),
    ("restrict", rf"\b{_WHO} (?:can|may|should) {_HEAR}\s+(?P<what>.+?)\s+(?P<only>only)\b"),
    ("restrict", rf"\b{_WHO} (?:can|may|should) (?P<only>only )?{_HEAR} (?P<only2>only )?(?P<what>.+)"),
    ("restrict", rf"{_KEEP} {_WHO} to\s+(?P<what>.+)"),
    ("grant", rf"^{_LEAD}approved for {_WHO}:\s*(?P<what>.+)"),
    ("grant", rf"^{_LEAD}(?:give|grant) {_WHO} access to\s+(?P<what>.+)"),
    ("grant", rf"^{_LEAD}(?:let|allow) {_WHO} (?:to )?{_HEAR}\s+(?P<what>.+)"),
    ("grant", rf"\b{_WHO} (?:may|can|is allowed to|is cleared to|is permitted to)(?: now)? {_HEAR}\s+(?P<what>.+)"),
)
_ACCESS_FORMS = tuple((kind, re.compile(form, re.I)) for kind, form in _ACCESS_TEXTS)
_NOT_WHO = word_set("i we you it this that these those there nobody someone somebody who what which all any no")
_PRONOUNS = word_set("she he they her him them")
_RELATIVES = word_set("mother father mom dad sister brother wife husband partner son daughter family boss manager")
_EVERYTHING = re.compile(r"\b(?:any|all|entirely|even|everything|anything)\b", re.I)
_BUT_NOT = re.compile(r",? (?:but )?not\b.*|;.*", re.I)


class Person(Record):
    """Somebody a directive may speak of: the principal, and the names and words he or she is called by."""

    principal: str
    names: tuple[str, ...]


class Directive(Record):
    """What a turn asks for, or says was done, about the use of memories.

    `source`: id of the turn; `by`: its speaker. `who`: principals it concerns; `who_said`: as the turn calls them, kept
    also where it means none or several (then `who` is empty, and the directive is unresolved). `values`: what it names
    literally (an identifier, a quotation, a name); `topics`: stems of the other content words; both empty: everything.
    `only`: nothing but the topics. `until`: UTC, ISO 8601, exclusive. `deferred`: it waits for something, and does
    nothing by itself. `done`: it reports that this was done.
    """

    kind: DirectiveKind
    source: str
    by: str | None = None
    time: str | None = None
    said: str
    who: tuple[str, ...] = ()
    who_said: str | None = None
    topics: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    only: bool = False
    until: str | None = None
    deferred: bool = False
    done: bool = False


class Authority(Record):
    """Whose directives of these kinds count: principals by name, and roles."""

    kinds: tuple[DirectiveKind, ...]
    principals: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


def authorised(directive: Directive, authorities: Sequence[Authority], roles: Mapping[str, Sequence[str]]) -> bool:
    """Does the speaker have a say? Nobody has who is not named; an unknown speaker never has.

    `roles`: the roles of each principal, as the deployment knows them (not as the turn claims).
    """
    if directive.by is None:
        return False
    held = set(roles.get(directive.by, ()))
    return any(
        directive.kind in authority.kinds and (directive.by in authority.principals or held & set(authority.roles))
        for authority in authorities
    )


def read_directives(
    turn: str,
    text: str,
    *,
    by: str | None = None,
    time: str | None = None,
    people: Iterable[Person] = (),
    known: Iterable[str] = (),
) -> tuple[Directive, ...]:
    """The directives of one turn, in order; () where it holds none that the reader is sure of.

    `people`: who may be meant. `known`: further names that identify no memory (of projects, places of work). `time`:
    the turn's, ISO 8601; "until Friday" is read from there.
    """
    everyone = tuple(people)
    common = tuple(name for person in everyone for name in person.names) + tuple(known)
    flat = normalise(text)
    found: list[Directive] = []
    for start, end in sentences(flat):
        said = flat[start:end]
        if len(said) > LONGEST or (said.endswith("?") and not _CAN_YOU.match(said)) or _UNDONE.search(said):
            continue
        base = Directive(kind="forget", source=turn, by=by, time=time, said=said)
        access = _access(said, base, everyone, common)
        if access is not None:
            found.append(access)
        else:
            found.extend(_forgets(said, base, common))
    return tuple(found)


def _forgets(said: str, base: Directive, common: Sequence[str]) -> list[Directive]:
    found = []
    waits = False
    for part in _SPLIT.split(said):
        clause = part.strip().rstrip(".!?")
        # "Once the visit is over, please delete ...": what the request waits for stands before it.
        waits = waits or _CONDITION.match(clause) is not None
        # "Security action: delete ...": what stands before a colon may be no more than a heading.
        for start in (0, *(colon.end() for colon in _COLON.finditer(clause))):
            read = _forget(clause[start:], base, common)
            if read is not None:
                found.append(read.model_copy(update={"deferred": not read.done and (read.deferred or waits)}))
                break
    return found


def _forget(part: str, base: Directive, common: Sequence[str]) -> Directive | None:
    for form, done in _FORGET_FORMS:
        match = form.match(part)
        if match is None:
            continue
        groups = match.groupdict()
        what = groups.get("what") or groups["named"]
        if groups.get("told") and _STATE.search(what):
            return None
        if _ACCESS.search(what) and not _NOTED.search(what):
            return None
        if groups.get("maybe") and not (_STORE.search(part) or _NOTED.search(what)):
            return None
        values = named_values(what, common)
        if groups.get("named") is not None and not values:
            return None
        topics = topic_stems(_STORE.sub("", what), values, common)
        if not values and not topics:
            return None
        waits = not done and _LATER.search(part) is not None
        return base.model_copy(update={"values": values, "topics": topics, "deferred": waits, "done": done})
    return None


def _access(said: str, base: Directive, people: Sequence[Person], common: Sequence[str]) -> Directive | None:
    for kind, form in _ACCESS_FORMS:
        match = form.search(said)
        if match is None:
            continue
        groups = match.groupdict()
        only = bool(groups.get("only") or groups.get("only2"))
        if "only2" in groups and not only:
            continue
        who_said = match["who"].removesuffix("'s").strip()
        if who_said.lower() in _NOT_WHO:
            continue
        meant = _meant(who_said, people)
        # A word in the place of a person that is nobody's name ("the scan may show ...") is no directive.
        if not meant and who_said.lower() not in _PRONOUNS and who_said.lower().split()[-1] not in _RELATIVES:
            continue
        what = match["what"]
        everything = kind == "revoke" and (not what.strip() or _EVERYTHING.search(said) is not None)
        topics = topic_stems(without_end(_BUT_NOT.sub("", what)), (), common)
        return base.model_copy(
            update={
                "kind": kind,
                "who": meant if len(meant) == 1 else (),
                "who_said": who_said,
                "topics": () if everything else topics,
                "only": only,
                "until": until_when(said, base.time),
            }
        )
    return None


def _meant(said: str, people: Sequence[Person]) -> tuple[str, ...]:
    """All principals that go by this name."""
    wanted = said.lower().removeprefix("my ").removeprefix("your ").removeprefix("the ")
    return tuple(person.principal for person in people if wanted in {name.lower() for name in person.names})
