"""Attributes that have one value at a time: home, employer, occupation, and what "her phone number is" may say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from admission.obligations.clauses import Token
from admission.obligations.vocabulary import PREPOSITIONS
from admission.supersession.statement import Statement, content_of, is_calendar, is_number
from admission.text import word_set

# Verb and preposition -> what they tell. A past form counts for those in `_CHANGES`, which are how a state begins.
_BY_VERB: dict[tuple[str, str], str] = {
    **{(verb, "in"): "home" for verb in ("live", "reside", "base", "settle")},
    **{(verb, "to"): "home" for verb in ("move", "relocate")},
    **{(verb, place): "employer" for verb in ("work", "employ") for place in ("at", "for")},
    ("join", ""): "employer",
    ("work", "as"): "occupation",
    ("employ", "as"): "occupation",
}
_CHANGES = word_set("move relocate join settle")
_NO_PLACE = word_set("night day home noon weekends weekend nights school fun free living money work")

# Of these one has several, and a second one takes nothing from the first.
_SEVERAL = word_set("""
    brother sister sibling son daughter child kid friend cousin uncle aunt niece nephew neighbour neighbor colleague
    coworker roommate flatmate dog cat pet bird hobby interest allergy language goal dream idea skill project task plan
    recipe book song film movie game photo picture tip note reason problem client customer student patient team
    appointment meeting call trip visit class course lesson event party concert order flight train exam interview
    deadline payment bill package delivery password account subscription ticket score grade result car bike guitar
    computer camera shop store company team club sport instrument doctor teacher coach professor therapist
""")
# Their values may be told in common nouns, which exclude each other.
_NAMED_FREELY = word_set("title role position profession occupation major rank nickname username")
_FAVOURITE = word_set("favourite favorite preferred")
EXCLUSIVE_STATES: tuple[frozenset[str], ...] = (
    word_set("single married"),
    word_set("single engaged"),
    word_set("married divorced"),
    word_set("married widowed"),
    word_set("married engaged"),
    word_set("employed unemployed"),
)
# A place in one of these may lie within it: "lives in Sweden" goes with "lives in Lund".
_REGIONS = word_set("""
    england scotland wales ireland britain uk u.k france germany spain portugal italy sweden norway denmark finland
    iceland netherlands holland belgium luxembourg switzerland austria poland czechia slovakia hungary romania bulgaria
    greece turkey croatia serbia slovenia bosnia albania ukraine russia estonia latvia lithuania usa u.s u.s.a america
    canada mexico brazil argentina chile peru colombia venezuela ecuador bolivia uruguay paraguay cuba jamaica china
    japan korea india pakistan bangladesh nepal vietnam thailand cambodia laos malaysia indonesia philippines taiwan
    australia zealand egypt morocco algeria tunisia kenya nigeria ghana ethiopia uganda tanzania africa europe asia
    israel jordan lebanon iran iraq syria qatar emirates scandinavia bavaria catalonia tuscany provence brittany saxony
    andalusia normandy flanders wallonia lombardy sicily alabama alaska arizona arkansas california colorado connecticut
    delaware florida georgia hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts
    michigan minnesota mississippi missouri montana nebraska nevada hampshire jersey dakota carolina ohio oklahoma
    oregon pennsylvania rhode tennessee texas utah vermont virginia wisconsin wyoming ontario quebec alberta manitoba
    saskatchewan queensland victoria tasmania yorkshire cornwall kent essex sussex devon countryside city town village
    suburbs abroad coast mountains country
""")


@dataclass(frozen=True, slots=True)
class Slot:
    """The value that a statement gives a single-valued attribute. `whole`: it says nothing else."""

    attribute: str
    tokens: tuple[Token, ...]
    whole: bool

    @property
    def content(self) -> frozenset[str]:
        return content_of(self.tokens)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(token.low for token in self.tokens if token.is_name)

    @property
    def regional(self) -> bool:
        return any(token.low in _REGIONS for token in self.tokens)


def slot_of(statement: Statement) -> Slot | None:
    """The home, employer or occupation a statement tells; None for any other."""
    rest = statement.rest
    if statement.tense != "present" and statement.verb not in _CHANGES:
        return None
    if statement.verb in ("move", "relocate"):
        rest = _destination(rest)
    first = rest[0].low if rest and rest[0].low in PREPOSITIONS else ""
    attribute = _BY_VERB.get((statement.verb, first))
    if attribute is None:
        return None
    value, more = _noun_phrase(rest[1:] if first else rest)
    if not value or all(token.low in _NO_PLACE for token in value):
        return None
    if attribute == "home" and not any(token.is_name for token in value):
        return None
    return Slot(attribute, value, not more)


def _destination(rest: Sequence[Token]) -> tuple[Token, ...]:
    """ "from Boston to Denver" -> "to Denver"."""
    places = [place for place, token in enumerate(rest) if token.low == "to"]
    return tuple(rest[places[0] :]) if places and (not places[0] or rest[0].low == "from") else tuple(rest)


def _noun_phrase(rest: Sequence[Token]) -> tuple[tuple[Token, ...], bool]:
    """The first noun phrase, and whether more follows. "the South End of Boston" is one."""
    for place, token in enumerate(rest):
        if token.low in PREPOSITIONS and token.low != "of":
            return tuple(rest[:place]), True
    return tuple(rest), False


def value_kind(tokens: Sequence[Token]) -> str:
    """What a value is, as far as two of a kind exclude each other: `number`, `calendar`, `address`, `name`, `noun`."""
    said = [token for token in tokens if token.low not in PREPOSITIONS]
    if not said:
        return ""
    if any("@" in token.text for token in said):
        return "address"
    if any(is_calendar(token) for token in said):
        return "calendar"
    if all(is_number(token) or token.low in _UNITS for token in said):
        return "number"
    if all(token.is_name or is_number(token) or token.text in ".-" for token in said):
        return "name"
    return "noun"


_UNITS = word_set("""
    am pm a.m p.m o'clock euros euro dollars dollar pounds pound kronor yen percent kg kilos grams mg ml km cm metres
    meters miles minutes hours days weeks months years
""")


def is_counted(token: Token) -> bool:
    """Whether a number before this word says how much or how many: a unit, or a plural."""
    return token.low in _UNITS or (token.low.endswith("s") and not token.low.endswith("ss"))


def head_of(subject: Sequence[str]) -> str:
    """The noun that a subject is about: "deadline" in "deadline for report"."""
    place = next((place for place, low in enumerate(subject) if low in PREPOSITIONS), len(subject))
    return subject[max(0, place - 1)]


def one_of_several(subject: Sequence[str]) -> bool:
    """Whether there may be another of what the subject names: of sisters and flights there are more than one."""
    return head_of(subject) in _SEVERAL


def has_one_value(subject: Sequence[str], kind: str) -> bool:
    """Whether what a subject such as "user's phone number" names has one value of this kind at a time."""
    head = head_of(subject)
    if len(subject) < 2 or head.endswith("'s"):
        return False  # a person or a thing by itself: "is a Volvo" and "is a wreck" go together
    favourite = any(low in _FAVOURITE for low in subject)
    if kind in ("number", "calendar", "address"):
        return True
    if kind == "name":
        return favourite or not one_of_several(subject)
    return kind == "noun" and (favourite or head in _NAMED_FREELY)
