"""Words, terms and sentence ends of a text in any script, with no downloaded data. What lexical code here agrees on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.snowball import SnowballStemmer
    from nltk.tokenize import RegexpTokenizer

# A word keeps inner apostrophes, hyphens, and what glues numbers, paths and times together: "don't", "3.5", "10:30".
_WORD = r"[^\W_]+(?:['’.,:/@_-][^\W_]+)*"
_SPACELESS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# An end mark, any closing quotes or brackets, then white space; CJK and Thai-neighbour marks need no space after them.
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])[」』”’）]*\s*|(?<=[।۔؟።])\s*|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|No|Nr|approx|a\.m|p\.m)\.$"
)

# With the mark before it and one character more, so that the start of the tail is never taken for that of the text.
_LONGEST_ABBREVIATION = len(" approx.") + 1


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as text, parted by white space."""
    return frozenset(text.split())


# English words that carry grammar rather than content, contractions as `words` gives them.
FUNCTION_WORDS = word_set(
    """
    a an the this that these those some any each every all both either neither no not none such own same other another
    i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself it its
    itself they them their theirs themselves one ones who whom whose which what when where why how
    am is are was were be been being do does did doing done have has had having can could may might must shall should
    will would ought need used to of in on at by for from with without into onto over under about above below between
    through during before after since until till against among within along across behind beyond near off out up down
    and or but nor so yet if unless because as than then though although while whether once per via
    just only also too very quite really even still already again ever never here there now more most less least much
    many few little lot let's
    i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'd
    we'll they're they've they'd they'll that's that'd that'll there's who's what's where's how's here's isn't aren't
    wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't won't wouldn't shouldn't
    mustn't needn't
    """
)


@cache
def _tokenizer() -> RegexpTokenizer:
    # Imported when first used: nltk takes seconds, which `admission --help` should not.
    from nltk.tokenize import RegexpTokenizer

    return RegexpTokenizer(_WORD)


@cache
def _stemmer() -> SnowballStemmer:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")


def normalise(text: str) -> str:
    """NFKC with curly quotes straightened and runs of white space made one space: equal-looking texts become equal."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    return " ".join(text.replace("“", '"').replace("”", '"').split())


def printable(text: str) -> str:
    """`text` with halves of surrogate pairs, which are no characters and cannot be stored, made replacement marks."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Cyrillic and Greek letters that cannot be told from a Latin one by eye, and what they are taken for.
_LOOK_ALIKE = str.maketrans(
    "аеорсухіјѕһԁԛԝАВЕКМНОРСТХУІЈЅԌԚԜοραινκυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijshdqwABEKMHOPCTXYIJSGQWopaivkuxABEZHIKMNOPTYX"
)
_LOOKS_LATIN = re.compile(f"[{''.join(map(chr, _LOOK_ALIKE))}]")
_LATIN = re.compile(r"[A-Za-z]")
_RUN_OF_LETTERS = re.compile(r"[^\W\d_]+")
_INVISIBLE = re.compile(r"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff\U000e0000-\U000e007f]+")
# The joiners that scripts of Asia and emoji need have no business between two Latin letters.
_BROKEN_WORD = re.compile(r"(?<=[A-Za-z])[\u180e\u200b-\u200d\u2060-\u2064\ufeff]+(?=[A-Za-z])")
# England, Scotland and Wales have flags spelt in tag characters.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{4,6}\U000e007f")


def disguise(text: str) -> str | None:
    """What makes a text read otherwise than it looks, in words; None where nothing does.

    Invisible tag characters, bidirectional overrides, invisible characters inside a word, words that mix Latin letters
    with Cyrillic or Greek ones that look like Latin ("µm" and "IT-отдел" do not).
    """
    if text.isascii():
        return None
    if any("\U000e0000" <= char <= "\U000e007f" for char in _FLAG.sub("", text)):
        return "invisible tag characters"
    if any(char in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068" for char in text):
        return "characters that reverse the order of the text"
    if _BROKEN_WORD.search(text):
        return "invisible characters inside a word"
    for found in _RUN_OF_LETTERS.finditer(text):
        word = found.group()
        if not word.isascii() and _LATIN.search(word) and _LOOKS_LATIN.search(word):
            return f"letters of several scripts in one word ({word!r})"
    return None


def undisguised(text: str) -> tuple[str, ...]:
    """`text` as a reader may take it, for patterns: NFKC without invisible characters and, where it differs, with
    look-alike letters made Latin."""
    if text.isascii():
        return (text,)
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    return tuple(dict.fromkeys((visible, visible.translate(_LOOK_ALIKE))))


def words(text: str) -> list[str]:
    """The words of `text` in order, case kept."""
    found: list[str] = _tokenizer().tokenize(unicodedata.normalize("NFKC", text).replace("’", "'"))
    return found


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """English Snowball stem of one word, lower-cased, possessive removed; other scripts come back as they are."""
    word = word.lower().removesuffix("'s")
    stemmed: str = _stemmer().stem(word) if word.isascii() and word.isalpha() else word
    return stemmed


def terms(text: str) -> list[str]:
    """Index terms: stems of words; character bigrams (and single characters) where the script has no spaces."""
    return [term for word in words(text) for term in _word_terms(word)]


def _word_terms(word: str) -> list[str]:
    if _SPACELESS.search(word) is None:
        return [stem(word)]
    found = [run[i : i + 2] for run in _SPACELESS.findall(word) for i in range(max(1, len(run) - 1))]
    return found + [stem(rest) for rest in _SPACELESS.sub(" ", word).split()]


def content_words(text: str) -> list[str]:
    """The words of `text` in order, case kept, without English function words."""
    return [word for word in words(text) if word.lower() not in FUNCTION_WORDS]


def content_terms(text: str) -> list[str]:
    """`terms` of the words that carry content."""
    return [term for word in content_words(text) for term in _word_terms(word)]


def index_terms(listed: Iterable[str]) -> list[str]:
    """What words are indexed and looked up by: their `terms` and the exact form, which wins among equal stems."""
    found: list[str] = []
    for word in listed:
        found.extend(_word_terms(word))
        if _SPACELESS.search(word) is None:
            found.append("=" + word.lower())
    return found


def sentences(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences of `text`, in order, without the white space between them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        # Only the end is looked at: a text of nothing but abbreviations would take time by the square of its length.
        tail = text[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start()]
        if "\n" not in end.group() and _ABBREVIATION.search(tail):
            continue
        spans.append((start, end.end()))
        start = end.end()
    spans.append((start, len(text)))
    trimmed = ((s + len(text[s:e]) - len(text[s:e].lstrip()), s + len(text[s:e].rstrip())) for s, e in spans)
    return [(s, e) for s, e in trimmed if e > s]
