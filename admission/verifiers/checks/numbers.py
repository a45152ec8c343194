"""Quantities: the same number with the same unit, another unit, or another number for the same thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from admission.text import stem
from admission.verifiers.checks.reading import ELSEWHERE, Check, Evidence, Sentence, Text, Word

_SMALL = {
    "zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0,
    "eight": 8.0, "nine": 9.0, "ten": 10.0, "eleven": 11.0, "twelve": 12.0, "thirteen": 13.0, "fourteen": 14.0,
    "fifteen": 15.0, "sixteen": 16.0, "seventeen": 17.0, "eighteen": 18.0, "nineteen": 19.0,
}  # fmt: skip
_TENS = {"twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0, "eighty": 80.0,
         "ninety": 90.0}  # fmt: skip
_SCALE = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "k": 1e3, "m": 1e6, "bn": 1e9, "billion": 1e9}
_OTHER = {"once": 1.0, "twice": 2.0, "thrice": 3.0, "couple": 2.0, "pair": 2.0, "both": 2.0, "dozen": 12.0,
          "fortnight": 2.0, "half": 0.5, "double": 2.0, "single": 1.0}  # fmt: skip
_UNIT_OF = {"once": "time", "twice": "time", "thrice": "time", "fortnight": "week"}
_CURRENCY = {"$": "dollar", "£": "pound", "€": "euro", "¥": "yen", "%": "percent"}
# Unit -> (dimension, factor to the dimension's base unit; None where the rate is not fixed).
_UNITS: dict[str, tuple[str, float | None]] = {
    "mm": ("length", 0.001), "millimetre": ("length", 0.001), "millimeter": ("length", 0.001), "cm": ("length", 0.01),
    "centimetre": ("length", 0.01), "centimeter": ("length", 0.01), "inch": ("length", 0.0254),
    "foot": ("length", 0.3048), "feet": ("length", 0.3048), "ft": ("length", 0.3048), "yard": ("length", 0.9144),
    "m": ("length", 1.0), "metre": ("length", 1.0), "meter": ("length", 1.0), "km": ("length", 1000.0),
    "kilometre": ("length", 1000.0), "kilometer": ("length", 1000.0), "k": ("length", 1000.0),
    "mile": ("length", 1609.34), "mg": ("mass", 1e-6), "g": ("mass", 0.001), "gram": ("mass", 0.001),
    "gramme": ("mass", 0.001), "kg": ("mass", 1.0), "kilo": ("mass", 1.0), "kilogram": ("mass", 1.0),
    "ton": ("mass", 1000.0), "tonne": ("mass", 1000.0), "lb": ("mass", 0.4536), "pound": ("mass", 0.4536),
    "ounce": ("mass", 0.02835), "oz": ("mass", 0.02835), "stone": ("mass", 6.35), "ml": ("volume", 0.001),
    "cl": ("volume", 0.01), "l": ("volume", 1.0), "litre": ("volume", 1.0), "liter": ("volume", 1.0),
    "gallon": ("volume", None), "pint": ("volume", None), "cup": ("volume", None), "second": ("time", 1.0),
    "sec": ("time", 1.0), "minute": ("time", 60.0), "min": ("time", 60.0), "hour": ("time", 3600.0),
    "hr": ("time", 3600.0), "day": ("time", 86400.0), "night": ("time", 86400.0), "week": ("time", 604800.0),
    "fortnight": ("time", 1209600.0), "month": ("time", 2629800.0), "year": ("time", 31557600.0),
    "yr": ("time", 31557600.0), "decade": ("time", 315576000.0), "dollar": ("money", None), "euro": ("money", None),
    "buck": ("money", None), "quid": ("money", None), "cent": ("money", None), "pence": ("money", None),
    "yen": ("money", None), "percent": ("share", 1.0), "degree": ("angle", None), "mph": ("speed", 1.609),
    "kmh": ("speed", 1.0), "kb": ("data", 1e-6), "mb": ("data", 1e-3), "gb": ("data", 1.0), "tb": ("data", 1e3),
}  # fmt: skip
_UNIT_BY_STEM = {stem(name): name for name in _UNITS}
_NUMERIC = re.compile(r"^(\d+(?:[.,]\d+)*)(st|nd|rd|th)?([a-z]+)?$", re.IGNORECASE)
_CLOSE = 0.03
_CORRECTED = re.compile(
    r"\b(?:final|finally|instead|actually|changed?|correction|make (?:it|that)|rather than|no longer|after all)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:more than|over|above|at least|exceed(?:s|ed|ing)?|upwards of|no less than)\s+\W?$", re.IGNORECASE
)
_UNDER = re.compile(r"\b(?:less than|fewer than|under|below|at most|up to|no more than|within)\s+\W?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, its unit's stem (None when nothing says what is counted), its words and their place.

    `bound` is "over" or "under" where the text only bounds the number ("more than 40", "up to 12").
    """

    value: float
    unit: str | None
    text: str
    start: int
    end: int
    bound: str = ""

    @property
    def measure(self) -> tuple[str, float | None] | None:
        name = _UNIT_BY_STEM.get(self.unit or "")
        return _UNITS[name] if name else None


def quantities(text: Text, taken: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """The quantities of `text` in order. `taken` are character spans already read as dates or clock times."""
    found: list[Quantity] = []
    words = _parts(text)
    i = 0
    while i < len(words):
        word = words[i]
        if any(start <= word.start < end for start, end in taken):
            i += 1
            continue
        value, used, glued = _number(words, i)
        if value is None:
            i += 1
            continue
        unit = glued or _UNIT_OF.get(word.lower) or _unit_before(text, word) or _unit_after(text, words, i + used)
        last = words[i + used - 1]
        bound = _bound(text.text[max(0, word.start - 40) : word.start])
        found.append(Quantity(value, unit, text.text[word.start : last.end], word.start, last.end, bound))
        i += used
    return found


def check_numbers(
    statement: Text, evidence: Evidence, taken: Sequence[tuple[int, int]], dated: dict[int, list[tuple[int, int]]]
) -> Check | None:
    """Every quantity of the obligation against those said.

    `ok` when each is said (in this unit, a converted one, or as the sum, difference or product of two said numbers);
    `conflict` when the best aligned sentences have the number with another unit, or another number with the unit.
    Where only other turns than the best aligned one have the number, an `ok` is weak, and another number of the unit in
    that turn is half a `conflict`. `taken` and `dated` (by sentence index) are the spans that dates occupy.
    """
    ours = [q for q in quantities(statement, taken) if not _idle(q, statement)]
    if not ours:
        return None
    said = [(s, q) for s in evidence.ordered for q in quantities(s.body, dated.get(s.index, ()))]
    near = {s.index for top in evidence.top() for s in evidence.around(top, 1)}
    missing: list[str] = []
    strength = 1.0
    for quantity in ours:
        holds = [s for s, other in said if _agree(quantity, other)]
        if holds or _derived(quantity, [q for _, q in said]):
            newer = next((pair for pair in said if holds and _replaces(pair, quantity, holds[-1])), None)
            if newer is not None:
                was, now = _shown(quantity, statement), _shown(newer[1], newer[0].body)
                return Check("numbers", "conflict", (was,), now, newer[0].turn_id)
            if holds and not any(s.turn_id == evidence.anchor.turn_id for s in holds):
                strength = ELSEWHERE
                aside = next((q for s, q in said if s.turn_id == evidence.anchor.turn_id and _clash(quantity, q)), None)
                if aside is not None:
                    was, turn = _shown(quantity, statement), evidence.anchor.turn_id
                    return Check("numbers", "conflict", (was,), aside.text, turn, strength)
            continue
        clash = next(((s, q) for s, q in said if s.index in near and _clash(quantity, q)), None)
        if clash is not None:
            return Check(
                "numbers", "conflict", (_shown(quantity, statement),), _shown(clash[1], clash[0].body), clash[0].turn_id
            )
        missing.append(quantity.text)
    if missing:
        return Check("numbers", "missing", tuple(missing))
    return Check("numbers", "ok", tuple(q.text for q in ours), strength=strength)


def _parts(text: Text) -> list[Word]:
    """Words with hyphenated number words taken apart: "three-year" is "three" and "year"."""
    parts: list[Word] = []
    for word in text.words:
        pieces = re.split(r"([-/])", word.text)
        if len(pieces) == 1 or not _begins_number(pieces[0].lower()):
            parts.append(word)
            continue
        place = word.start
        for piece in pieces:
            if piece not in "-/":
                parts.append(Word(piece, piece.lower(), stem(piece), place, place + len(piece)))
            place += len(piece)
    return parts


def _begins_number(lower: str) -> bool:
    return lower in _SMALL or lower in _TENS or _NUMERIC.match(lower) is not None


def _number(words: Sequence[Word], i: int) -> tuple[float | None, int, str | None]:
    """(value, words used, unit glued to the digits) of the number that starts at `i`; value None when none does."""
    lower = words[i].lower
    digits = _NUMERIC.match(lower)
    if digits and not digits[2]:
        value = float(digits[1].replace(",", "")) if digits[1].count(".") <= 1 else None
        if value is None:
            return None, 1, None
        suffix = (digits[3] or "").lower()
        if suffix in ("k", "bn") or (suffix == "m" and value < 1000 and "." in digits[1]):
            return value * _SCALE[suffix], 1, None
        if not suffix and i + 1 < len(words) and words[i + 1].lower in ("hundred", "thousand", "million", "billion"):
            return value * _SCALE[words[i + 1].lower], 2, None
        return value, 1, stem(suffix) if suffix else None
    if lower in _OTHER:
        following = words[i + 1].lower if i + 1 < len(words) else ""
        if (
            lower == "once"
            and following not in ("", "a", "every", "per", "in", "each")
            and not following.endswith("ly")
        ):
            return None, 1, None
        if lower == "half" and i + 2 < len(words) and words[i + 1].lower == "a" and words[i + 2].lower == "dozen":
            return 6.0, 3, None
        return _OTHER[lower], 1, None
    if lower not in _SMALL and lower not in _TENS:
        return None, 1, None
    return _spelled(words, i)


def _spelled(words: Sequence[Word], i: int) -> tuple[float | None, int, str | None]:
    total, current, used = 0.0, 0.0, 0
    while i + used < len(words):
        lower = words[i + used].lower
        if lower in _TENS:
            current += _TENS[lower]
        elif lower in _SMALL and (
            used == 0 or words[i + used - 1].lower in _TENS or words[i + used - 1].lower in ("and", "hundred")
        ):
            current += _SMALL[lower]
        elif lower in ("hundred", "thousand", "million"):
            current = max(current, 1.0) * _SCALE[lower]
            if lower != "hundred":
                total, current = total + current, 0.0
        elif lower == "and" and used and words[i + used - 1].lower == "hundred":
            pass
        else:
            break
        used += 1
    if words[i + used - 1].lower == "and":
        used -= 1
    return total + current, used, None


def _unit_before(text: Text, word: Word) -> str | None:
    return stem(_CURRENCY[text.text[word.start - 1]]) if word.start and text.text[word.start - 1] in "$£€¥" else None


def _unit_after(text: Text, words: Sequence[Word], i: int) -> str | None:
    """What is counted: the sign or the first content word within three words after the number."""
    end = words[i - 1].end
    if text.text[end : end + 1] in _CURRENCY and text.text[end : end + 1]:
        return stem(_CURRENCY[text.text[end]])
    following = words[i : i + 3]
    for word in following:
        if text.text[end : word.start].strip(" -"):
            return None
        if word.stem in _UNIT_BY_STEM:
            return word.stem
        end = word.end
    for word in following:
        if word.content:
            return word.stem
        if word.lower not in ("of", "the", "more", "other", "its", "his", "her", "their", "my", "our", "a"):
            return None
    return None


def _idle(quantity: Quantity, statement: Text) -> bool:
    """ "One" as a pronoun or article ("the one", "one of", "one who") counts nothing."""
    if quantity.value != 1.0 or quantity.text.lower() != "one":
        return False
    before = statement.text[: quantity.start].split()[-1:]
    after = statement.text[quantity.end :].split()[:1]
    return (
        quantity.unit is None
        or before in (["the"], ["no"], ["this"], ["that"], ["every"])
        or after in (["of"], ["who"], ["that"])
    )


def _bound(before: str) -> str:
    return "over" if _OVER.search(before) else "under" if _UNDER.search(before) else ""


def _agree(ours: Quantity, theirs: Quantity) -> bool:
    if ours.bound and not theirs.bound and (ours.unit == theirs.unit or None in (ours.unit, theirs.unit)):
        return theirs.value >= ours.value if ours.bound == "over" else theirs.value <= ours.value
    if ours.unit is not None and ours.unit == theirs.unit:
        return ours.value == theirs.value
    if ours.measure and theirs.measure:
        if ours.measure[0] != theirs.measure[0]:
            return (
                "money" in (ours.measure[0], theirs.measure[0]) and ours.value == theirs.value and ours.unit == "pound"
            )
        a, b = ours.measure[1], theirs.measure[1]
        if a is None or b is None:
            return False
        return abs(ours.value * a - theirs.value * b) <= _CLOSE * abs(ours.value * a)
    return ours.value == theirs.value


def _derived(ours: Quantity, said: Sequence[Quantity]) -> bool:
    """The sum, difference or product of two said numbers; small numbers are too easily hit by chance."""
    if ours.value < 5:
        return False
    values = [q.value for q in said if q.value not in (0.0, 1.0)][:40]
    return any(ours.value in (a + b, abs(a - b), a * b) for a, b in combinations(values, 2))


def _clash(ours: Quantity, theirs: Quantity) -> bool:
    """The same number measured in another unit of the dimension, or another number of the same unit."""
    if ours.unit is not None and ours.unit == theirs.unit:
        return ours.value != theirs.value
    if ours.measure and theirs.measure and ours.measure[0] == theirs.measure[0]:
        return ours.value == theirs.value or ours.measure[1] == theirs.measure[1]
    return False


def _replaces(newer: tuple[Sentence, Quantity], ours: Quantity, held: Sentence) -> bool:
    """Another number of the same thing, said later than the agreeing one and as its correction."""
    sentence, theirs = newer
    return sentence.index > held.index and _clash(ours, theirs) and _CORRECTED.search(sentence.body.text) is not None


def _shown(quantity: Quantity, text: Text) -> str:
    """The number as written, with the word after it."""
    after = text.text[quantity.end :].split()[:1]
    return " ".join([quantity.text, *after]).rstrip(".,;:!?")
