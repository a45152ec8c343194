"""Whether a text is English enough to be judged by models that read English only: script, then function words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from admission.text import word_set, words

# Fewer than `admission.text.FUNCTION_WORDS`: no word that other languages in Latin script use too ("per", "via").
# The entailment verifier picks premises by the same words, and its thresholds were fitted so; with the longer list it
# would read other premises for 62 of 800 held-out claims.
GRAMMAR_WORDS = word_set(
    """a about after again all also am an and any are aren't as at be because been before being both but by can can't
    could couldn't did didn't do does doesn't doing don't down during each few for from further had has hasn't have
    having he her here hers him his how i i'd i'll i'm i've if in into is isn't it it's its just me more most my no nor
    not now of off on once only or other our out over own same she should so some such than that that's the their them
    then there these they they're this those through to too under until up us very was wasn't we we're were what when
    where which while who whom why will with won't would you you're your"""
)
"""English words that carry grammar rather than content, lower-case."""

# Frequent grammar words of other languages in Latin script that are not also ordinary English words.
_FOREIGN = word_set(
    """el la los las del que en una por para con su sus se lo como pero muy está soy mi nos le les des du et est dans
    un une pour qui sur avec pas ne je tu il elle nous vous mais au aux ce cette mon ma der das und ist nicht ich ein
    eine zu mit auf für den dem von sich auch wir ihr sie bei wird hat habe aus di che è per sono non ho ha del della
    nel gli ma anche um uma não os as do da dos das em com mais meu minha het een van ik je niet op dat zijn voor met
    og jeg ikke til det som på är och att inte jag nie się jest ve bir bu için olan"""
) - word_set("as do ha ho dos das met per")

_PARTICLES = word_set("de la las los del der den van von di da du le el bin")

MIN_LATIN = 0.7
"""Least share of Latin letters among the letters of an English text."""


@lru_cache(maxsize=16384)
def is_foreign(text: str) -> bool:
    """Whether `text` is clearly not English. Names, numbers, code and very short texts are not foreign.

    Foreign: fewer than `MIN_LATIN` of its letters are Latin; or it has at least two grammar words of other languages
    and more of them than English ones; or, in a text of three to six words, one of them and no English one. Words that
    are capitalised inside the text, and "de la" and its like after them, are names and count on neither side.
    """
    letters = [char for char in text if char.isalpha()]
    if not letters:
        return False
    latin = sum(1 for char in letters if char.isascii() or unicodedata.name(char, "").startswith("LATIN"))
    if latin < MIN_LATIN * len(letters):
        return True
    found = words(text)
    plain: list[str] = []
    in_name = False
    for place, word in enumerate(found):
        in_name = word[0].isupper() or (in_name and word in _PARTICLES)
        if place == 0 or not in_name:
            plain.append(word.lower())
    english = sum(1 for word in plain if word in GRAMMAR_WORDS)
    foreign = sum(1 for word in plain if word in _FOREIGN)
    return (foreign >= 2 and foreign > english) or (foreign >= 1 and english == 0 and 3 <= len(found) <= 6)


def all_foreign(texts: Iterable[str]) -> bool:
    """Whether there are texts and every one that has letters is foreign."""
    lettered = [text for text in texts if any(char.isalpha() for char in text)]
    return bool(lettered) and all(is_foreign(text) for text in lettered)
