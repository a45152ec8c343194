"""Which fields of a stored value say something, what they say, and which are labels that nobody has to look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

from admission.settings import WriteSettings
from admission.text import disguise, terms, word_set

Keys = tuple[str | int, ...]

# Names that say nothing of what is under them: a text stands there for itself. Any other name is judged with its value.
_SAY_NOTHING = word_set(
    "body comment context description details document entry fact facts item items line lines memories memory message"
    " messages note notes observation observations pagecontent paragraph profile properties reasoning remark sentence"
    " statement statements summary text texts thoughts title triple triples value values attributes metadata extra"
)
# A value with texts under these names says one thing in three parts, as langmem's Triple does.
_TRIPLE = ("subject", "predicate", "object")
# With one of these several words in a row are no label: they say that something is, was, has, or is to be so.
_CLAIMING = word_set(
    "am is are was were be been being isn't aren't wasn't weren't has have had hasn't haven't hadn't do does did"
    " doesn't don't didn't can can't cannot could will won't would shall should must may might not never no"
)
_NAME_WORDS = 3  # a name of so many words, one of them claiming, is a sentence: is_a_thief
_LABEL_CHARS = 128  # the hexadecimal digits of the longest hash in use
_LABEL_WORDS = 4
# So many words that the memory does not say may stand in the labels of one value.
_UNSAID_WORDS = 8
_PART = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_HASH = re.compile(r"(?=.*\d)[0-9a-fA-F]{8,}")


class Leaf(NamedTuple):
    """A text, number or flag in a value, a triple, or a name that says something itself. `name`: what the names above
    say of it; `own`: the nearest name above, as it is, and `field` the first; `keys`: the way to it, None for a name
    or a triple."""

    text: str
    name: str
    own: str
    field: str
    keys: Keys | None

    @property
    def path(self) -> str:
        return ".".join(key for key in self.keys or () if isinstance(key, str))

    def is_under(self, names: Set[str]) -> bool:
        """Is it a value, and every name above it one of these?"""
        return self.keys is not None and all(_plain(key) in names for key in self.keys if isinstance(key, str))

    def lines(self) -> str:
        """What is judged: each line with what its names say of it."""
        if not self.name:
            return self.text
        return "\n".join(f"{self.name}: {line}" for line in self.text.splitlines() or [""])


class Fields(NamedTuple):
    """The leaves of a value: of the text itself, of what is judged beside it, and the labels, which are not."""

    text: tuple[Leaf, ...]
    beside: tuple[Leaf, ...]
    labels: tuple[Leaf, ...]


def read_fields(value: dict[str, Any], settings: WriteSettings, *, leave_out: Iterable[str | None] = ()) -> Fields:
    """The leaves of a value, but for the fields named in `leave_out`.

    The text is the first of `text_fields` that says something, or else the whole value. A label is a number, a flag, a
    moment or a bare token under a name of `metadata_fields`, in a text field too. A string with white space is one
    only where the text has all its words; one that makes a claim is none; and if all labels together have too many
    words that the text does not have (keywords, to be found by), all words among them are judged.
    """
    kept = {name: part for name, part in value.items() if name not in set(leave_out)}
    silent = _SAY_NOTHING | {_plain(name) for name in settings.text_fields}
    metadata = {_plain(name) for name in (*settings.metadata_fields, *settings.citation_fields)}
    leaves = list(_leaves(kept, silent))
    listed = [_plain(leaf.own) in metadata and leaf.is_under(metadata | silent) for leaf in leaves]
    said = terms("\n".join(leaf.lines() for leaf, is_listed in zip(leaves, listed, strict=True) if not is_listed))
    labels = _labels([leaf for leaf, is_listed in zip(leaves, listed, strict=True) if is_listed], set(said))
    judged = [leaf for leaf in leaves if leaf.keys not in labels]
    main = next((f for f in settings.text_fields if any(leaf.field == f for leaf in judged)), None)
    if not judged:
        return Fields(tuple(leaves), (), ())  # it says nothing but its labels: they are the memory
    return Fields(
        tuple(leaf for leaf in judged if main in (None, leaf.field)),
        tuple(leaf for leaf in judged if main not in (None, leaf.field)),
        tuple(leaf for leaf in leaves if leaf.keys in labels),
    )


def _labels(listed: list[Leaf], said: set[str]) -> set[Keys | None]:
    """The keys of those that are labels, of leaves under names of metadata."""
    by_field: dict[str, list[Leaf]] = {}
    for leaf in listed:
        by_field.setdefault(leaf.path, []).append(leaf)
    labels = [leaf for field in by_field.values() if not _claims(field) for leaf in field if _is_label(leaf, said)]
    unsaid = {term for leaf in labels for word in _words(leaf.text) for term in terms(word)} - said
    return {leaf.keys for leaf in labels if len(unsaid) <= _UNSAID_WORDS or not _words(leaf.text)}


def _claims(field: list[Leaf]) -> bool:
    """Do the labels of one field make a claim together: ["ana", "is", "ill"]?"""
    found = [word.lower() for leaf in field for word in _words(leaf.text)]
    return len(found) > 1 and not _CLAIMING.isdisjoint(found)


def _is_label(leaf: Leaf, said: set[str]) -> bool:
    text = leaf.text.strip()
    if len(text) > _LABEL_CHARS or disguise(text) is not None:
        return False
    found = _words(text)
    if _may_part_words(text) and not said.issuperset(term for word in found for term in terms(word)):
        return False
    return len(found) <= _LABEL_WORDS


def _words(token: str) -> list[str]:
    """The words that a token is made of, at `_`, `-`, a change of case; none of a hash, a number, a date."""
    found: list[str] = []
    for part in _PART.findall(token.replace("’", "'")):
        if _HASH.fullmatch(part) is None:
            has_digits = any(char.isdigit() for char in part)
            found += _LETTERS.findall(part) if has_digits else _CAMEL.split(part)
    return [word for word in found if len(word) > 1]


def _leaves(part: Any, silent: frozenset[str], keys: Keys = (), name: str = "", own: str = "") -> Iterator[Leaf]:
    field = str(keys[0]) if keys else ""
    if isinstance(part, dict):
        triple = _triple(part)
        if triple:
            yield Leaf(triple, name, own, field, None)
        for key, inner in ((str(key), inner) for key, inner in part.items() if not (triple and key in _TRIPLE)):
            said = "" if _plain(key) in silent else _humanised(key)
            if _is_sentence(key, said) and not _is_number_or_flag(inner):
                yield Leaf(said, "", key, field or key, None)
                said = ""
            yield from _leaves(inner, silent, (*keys, key), f"{name} {said}".strip(), key)
    elif isinstance(part, list):
        for place, inner in enumerate(part):
            yield from _leaves(inner, silent, (*keys, place), name, own)
    elif part is not None and (not isinstance(part, str) or part.strip()):
        # A number has its meaning from its name, whatever the name is.
        yield Leaf(str(part), name or ("" if isinstance(part, str) else own), own, field, keys)


def _triple(part: dict[Any, Any]) -> str:
    """What a triple of texts says, in one line; "" for any other value."""
    said = [part.get(name) for name in _TRIPLE]
    if not all(isinstance(text, str) and text.strip() for text in said):
        return ""
    return " ".join(_humanised(str(text)) for text in said)


def _plain(name: str) -> str:
    """A name as it is compared: `createdAt` and `created_at` are one, and a look-alike letter makes another."""
    return name.casefold().replace("_", "").replace("-", "")


def _humanised(name: str) -> str:
    """A name as words: `home_city` and `homeCity` are "home city"."""
    if _may_part_words(name):
        return name
    return " ".join(_CAMEL.sub(" ", name).replace("_", " ").replace("-", " ").split()) or name


def _is_sentence(name: str, said: str) -> bool:
    found = said.lower().split()
    return _may_part_words(name) or (len(found) >= _NAME_WORDS and not _CLAIMING.isdisjoint(found))


def _may_part_words(text: str) -> bool:
    """Is it more than one word? Invisible characters can part words as well."""
    return any(char.isspace() or not char.isprintable() for char in text.strip())


def _is_number_or_flag(part: Any) -> bool:
    return part is not None and not isinstance(part, str | dict | list)
