"""Texts read for checking: words with their places, sentences of passages with who said them and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Literal

from admission.records import Passage
from admission.text import normalise, sentences, stem, word_set, words

# Not `admission.text.FUNCTION_WORDS`: the shipped calibration was fitted on alignments that leave out these words ("go"
# and "said" among them). With that list 99 of 264 calibration claims score otherwise: change it only to fit again.
UNWEIGHTED = word_set("""
    a an the this that these those i me my mine myself you your yours yourself he him his himself she her hers
    herself it its itself we us our ours ourselves they them their theirs themselves who whom whose which what
    where when why how am is are was were be been being do does did doing done have has had having will would
    shall should can could may might must ought and or but nor so yet for of in on at by to from with without
    into onto about as than then too very just also not no if unless because since while though although until
    till before after during between among through over under again there here out up down off own same such
    both each few more most other some any only all every i'm i've i'd i'll you're you've you'd you'll he's
    she's it's we're we've we'd we'll they're they've they'd they'll that's there's what's who's let's don't
    doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't can't cannot couldn't
    shouldn't mustn't yes yeah ok okay oh well really like get got gets getting gonna wanna going go one s t ll
    re ve d m said says say told tell according whether however even still now else ever never always already
""")
"""Words that carry no content of their own: weight 0 in an alignment. Cues among them are read by the checks."""

FIRST_PERSON = word_set("i me my mine myself i'm i've i'd i'll we us our ours ourselves we're we've we'd we'll")
SECOND_PERSON = word_set("you your yours yourself you're you've you'd you'll")
PERSONAL = word_set("he him his she her hers they them their theirs he's she's they're they've")
"""These stand for somebody; "it" and "that" may stand for nothing ("it rains", "that Ana left is sad")."""

ELSEWHERE = 0.5
"""Strength of a check that other turns than the best aligned one settle."""

State = Literal["ok", "missing", "conflict"]


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found: `ok`, `missing` (not said) or `conflict` (said otherwise).

    `words` are the obligation's words it is about, `said` what the passages have instead (`turn_id` says where),
    `strength` in (0, 1] how much of what could differ does.
    """

    kind: str
    state: State
    words: tuple[str, ...] = ()
    said: str = ""
    turn_id: str = ""
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its text, lower case, stem, and character span in the text it was read from."""

    text: str
    lower: str
    stem: str
    start: int
    end: int

    @property
    def content(self) -> bool:
        return self.lower not in UNWEIGHTED


@dataclass(frozen=True)
class Text:
    """A text after `normalise`, with its words. `read` remembers texts, and a text what is asked of it often."""

    text: str
    words: tuple[Word, ...]

    @cached_property
    def content(self) -> tuple[Word, ...]:
        return tuple(word for word in self.words if word.content)

    @cached_property
    def lowers(self) -> frozenset[str]:
        return frozenset(word.lower for word in self.words)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)

    @cached_property
    def bare(self) -> frozenset[str]:
        """The words in lower case without a possessive."""
        return frozenset(lower.removesuffix("'s") for lower in self.lowers)

    @cached_property
    def capitals(self) -> frozenset[str]:
        """In lower case, the words after the first that are written with a capital."""
        return frozenset(word.lower for word in self.words[1:] if word.text[:1].isupper())

    def has(self, *phrases: str) -> str | None:
        """The first of `phrases` (lower case, whole words) that occurs, or None."""
        return next((p for p in phrases if phrase_pattern(p).search(self.text)), None)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a passage. `index` is its place among all sentences shown; `coverage` how well it aligns."""

    body: Text
    turn_id: str
    speaker: str
    role: str
    when: datetime | None
    index: int
    coverage: float = 0.0

    @property
    def question(self) -> bool:
        return self.body.text.rstrip("\"')”’ ").endswith("?")

    @property
    def quoted(self) -> str:
        return self.body.text if len(self.body.text) <= 120 else self.body.text[:117] + "..."


@dataclass(frozen=True)
class Evidence:
    """The sentences of a view in order, and the same ranked by how well they align with the obligation."""

    ordered: tuple[Sentence, ...]
    ranked: tuple[Sentence, ...]
    speakers: tuple[str, ...] = field(default=())

    @property
    def anchor(self) -> Sentence:
        return self.ranked[0]

    def top(self, count: int = 3, share: float = 0.6) -> tuple[Sentence, ...]:
        """The best aligned sentences: at most `count`, none with less than `share` of the best one's coverage."""
        best = self.ranked[0].coverage
        return tuple(s for s in self.ranked[:count] if s.coverage >= share * best)

    def around(self, sentence: Sentence, reach: int = 1) -> tuple[Sentence, ...]:
        """The sentence with its neighbours in the order shown."""
        return self.ordered[max(0, sentence.index - reach) : sentence.index + reach + 1]


@lru_cache(maxsize=256)
def phrase_pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w']){re.escape(phrase)}(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=8192)
def read(raw: str) -> Text:
    """`raw` normalised and cut into words with their places."""
    text = normalise(raw)
    found: list[Word] = []
    place = 0
    for word in words(text):
        start = text.find(word, place)
        if start < 0:
            continue
        place = start + len(word)
        found.append(Word(word, word.lower(), stem(word), start, place))
    return Text(text, tuple(found))


@lru_cache(maxsize=8192)
def _sentences(raw: str) -> tuple[Text, ...]:
    return tuple(read(raw[start:end]) for start, end in sentences(raw))


def read_passages(passages: Sequence[Passage]) -> tuple[Sentence, ...]:
    """The sentences of `passages` in the order given, each with its passage's speaker, role and time."""
    found: list[Sentence] = []
    for passage in passages:
        when = datetime.fromisoformat(passage.time) if passage.time else None
        for body in _sentences(passage.text):
            if body.words or body.text:
                speaker = passage.speaker or passage.role
                found.append(Sentence(body, passage.turn_id, speaker, passage.role, when, len(found)))
    return tuple(found)


@lru_cache(maxsize=1024)
def name_stems(speaker: str) -> frozenset[str]:
    """The stems of a speaker's name: an obligation that names the speaker matches whatever they say."""
    return frozenset(stem(part) for part in words(speaker))


def overlap(statement: Text, sentence: Sentence) -> float:
    """Share of the statement's content stems that the sentence or its speaker's name repeats, 0 to 1."""
    wanted = {word.stem for word in statement.words if word.content}
    said = sentence.body.stems | name_stems(sentence.speaker)
    return len(wanted & said) / len(wanted) if wanted else 0.0


def gather(statement: Text, shown: Sequence[Sentence], coverages: Iterable[float] | None = None) -> Evidence:
    """Sentences ranked by `coverages` (one a sentence; by word overlap when none are given), earlier first on a tie."""
    scores = list(coverages) if coverages is not None else [overlap(statement, s) for s in shown]
    scored = tuple(
        Sentence(s.body, s.turn_id, s.speaker, s.role, s.when, s.index, score)
        for s, score in zip(shown, scores, strict=True)
    )
    ranked = tuple(sorted(scored, key=lambda s: -s.coverage))
    return Evidence(scored, ranked, tuple(dict.fromkeys(s.speaker for s in scored)))
