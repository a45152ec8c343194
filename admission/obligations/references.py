"""Who "she", "her" and "it" are: a statement taken out of its memory gets its names back, or is not taken out."""

from __future__ import annotations

from dataclasses import dataclass

from admission.obligations.clauses import Token, base, find_head, tokenise
from admission.obligations.verbs import VERB_FORMS
from admission.obligations.vocabulary import (
    ADVERBS,
    BE,
    BELONGINGS,
    DAY_PARTS,
    DETERMINERS,
    FINITE_AUXILIARIES,
    KIN,
    MONTHS,
    MOTION,
    PREPOSITIONS,
    SUBORDINATORS,
    TITLES,
    WEEKDAYS,
)
from admission.text import FUNCTION_WORDS, word_set

_GENDER = {"she": "f", "her": "f", "hers": "f", "herself": "f", "he": "m", "him": "m", "his": "m", "himself": "m"}
_THINGS = word_set("it its itself")
_MANY = word_set("they them their theirs themselves")
_BACK = word_set("this that these those one ones such so there then own other former latter others before after")
_PLACE_PREPOSITIONS = word_set("in at near on into through around")


@dataclass(frozen=True, slots=True)
class Subject:
    """The last subject a pronoun may stand for. `gender` "" where the memory does not tell.

    `owner` is who a thing belongs to ("Ana" of "Ana's email"): a later "her" is hers.
    """

    text: str
    person: bool
    plural: bool
    gender: str
    owner: str = ""

    @property
    def possessive(self) -> str:
        return self.text + ("'" if self.plural and self.text.endswith("s") else "'s")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody named in the memory: "Bo", "her mother"."""

    text: str
    gender: str


def subject_of(sentence: str) -> Subject | None:
    """The subject of a sentence as what later pronouns may mean; None for pronoun subjects or where none is found."""
    tokens = tokenise(sentence)
    head = find_head(tokens, 0, len(tokens))
    if head is None and "," in sentence:
        comma = next((i for i, t in enumerate(tokens) if t.text == ","), len(tokens))
        head = find_head(tokens, comma + 1, len(tokens))
    if head is None or not head.has_subject:
        return None
    found = tokens[head.start : head.subject_end]
    if found[0].low in FUNCTION_WORDS - DETERMINERS - {"my", "our", "your"} or len(found) > 8:
        return None
    text = sentence[found[0].start : found[-1].end]
    if text.startswith(("The ", "My ", "Our ", "Your ", "A ", "An ", "All ", "Both ")):
        text = text[0].lower() + text[1:]
    plural = any(t.low == "and" for t in found)
    head_noun = found[-1].low
    named = found[-1].is_name and found[0].low != "the"
    person = named or head_noun in KIN or head_noun in ("user", "speaker", "customer", "author")
    gender = KIN.get(head_noun, "")
    if person and not plural and not gender:
        # "Ana met her brother": the first pronoun of the clause that owns something is read as the subject's.
        marks = [
            _GENDER[t.low]
            for t in tokens[head.verb :]
            if t.low in _GENDER and t.low in ("her", "his", "herself", "himself")
        ]
        gender = marks[0] if marks and len(set(marks)) == 1 else ""
        gender = {"mr": "m", "mrs": "f", "ms": "f"}.get(found[0].low, gender)
    owner = found[1 if found[0].low == "the" and len(found) > 2 else 0]
    owned = not person and owner.low.endswith("'s") and head_noun.removesuffix("s") in BELONGINGS
    return Subject(text, person, plural, gender, text[: owner.end - found[0].start - 2] if owned else "")


def persons(text: str, subject: Subject | None) -> list[Person]:
    """Everybody named in `text` but the subject, once each. Errs on the side of finding too many."""
    tokens = tokenise(text)
    own = {t.low.removesuffix("'s") for t in tokenise(subject.text)} if subject is not None else set()
    found: dict[str, Person] = {}
    k = 0
    while k < len(tokens):
        token = tokens[k]
        if (
            not token.opaque
            and token.low.removesuffix("'s") in KIN
            and k
            and (tokens[k - 1].is_possessive or tokens[k - 1].low in DETERMINERS)
            and not (k > 1 and tokens[k - 2].low in BE | {"as"})
        ):
            phrase = f"{tokens[k - 1].text} {token.text}".removesuffix("'s")
            if subject is None or phrase.lower() not in subject.text.lower():
                if subject is not None and tokens[k - 1].low in ("her", "his", "their"):
                    phrase = f"{subject.possessive} {token.text}".removesuffix("'s")
                found[phrase] = Person(phrase, KIN[token.low.removesuffix("'s")])
        elif _name_like(tokens, k) and not (k and tokens[k - 1].low in BE):
            start = k
            while k + 1 < len(tokens) and tokens[k + 1].is_name and tokens[k + 1].text[0].isalpha():
                k += 1
            name = text[tokens[start].start : tokens[k].end].removesuffix("'s")
            if not any(part in own for part in name.lower().split()):
                found[name] = Person(name, "")
        k += 1
    return list(found.values())


def _name_like(tokens: list[Token], k: int) -> bool:
    token = tokens[k]
    low = token.low.removesuffix("'s")
    if not token.is_name or not low.isalpha() or token.text.isupper():
        return False
    if low in MONTHS | WEEKDAYS | DAY_PARTS | ADVERBS or low in FUNCTION_WORDS or (low in VERB_FORMS and k == 0):
        return False
    before = tokens[k - 1].low if k else ""
    moved = before in ("to", "from") and any(base(t) in MOTION for t in tokens[max(0, k - 5) : k - 1])
    if moved or (before in _PLACE_PREPOSITIONS | {"the", "a", "an"} and low not in TITLES):
        return False
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    # "a Harry Potter fan", "the Leipzig server": a name used as an adjective is nobody.
    return not (before in ("a", "an", "the") and following is not None and following.text.islower())


def stand_alone(statement: str, subject: Subject | None, before: str) -> str | None:
    """`statement` with what points back into `before` named, or None where that cannot be done safely.

    `subject` is the subject of `before`; the statement may have its own subject or begin with a pronoun for that one.
    """
    tokens = tokenise(statement)
    if not tokens or _elliptic(tokens):
        return None
    others = persons(before, subject)
    edits: list[tuple[Token, str]] = []
    named_inside = False
    resolved: dict[str, str] = {}
    for k, token in enumerate(tokens):
        if token.opaque:
            continue
        low = token.low
        if low in _GENDER:
            name = _person(tokens, k, subject, others, resolved, named_inside)
            if name is None:
                return None
            if name:
                edits.append((token, name))
                resolved[_GENDER[low]] = name.removesuffix("'s")
        elif low in _THINGS or low in _MANY:
            if not _bound(tokens, k, subject, others):
                return None
        elif low in _BACK and _points_back(tokens, k):
            return None
        if k and (_name_like(tokens, k) or low in KIN) and (subject is None or token.text not in subject.text):
            named_inside = True
    for token, name in reversed(edits):
        statement = statement[: token.start] + name + statement[token.end :]
    return statement


def _elliptic(tokens: list[Token]) -> bool:
    """ "Bo has not", "uses Kirsi's": a verb or an owner whose rest is in the clause before."""
    head = find_head(tokens, 0, len(tokens))
    if head is not None:
        group = tokens[head.verb : head.group_end]
        rest = tokens[head.group_end : head.group_end + 1]
        if all(t.low in FINITE_AUXILIARIES | {"not", "n't", "to"} for t in group) and (
            not rest or not rest[0].is_word or rest[0].low in ("if", "unless", "because", "when", "too", "so")
        ):
            return True
    ends = [t for k, t in enumerate(tokens) if k + 1 == len(tokens) or not tokens[k + 1].is_word]
    owners = [t for t in ends if t.low.endswith("'s") and len(t.low) > 2]
    return any(tokens[tokens.index(t) - 1].low not in PREPOSITIONS for t in owners)


def _person(
    tokens: list[Token], k: int, subject: Subject | None, others: list[Person], resolved: dict[str, str], inside: bool
) -> str | None:
    """Replacement for he/she/him/her/his at `k`; "" to leave it; None where it is unsafe."""
    token = tokens[k]
    gender = _GENDER[token.low]
    rivals = [p for p in others if p.gender in ("", gender)]
    fits = (
        subject is not None
        and (subject.person or subject.owner != "")
        and not subject.plural
        and (subject.gender in ("", gender))
    )
    if token.low in ("herself", "himself") or gender in resolved or inside:
        return ""
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    owns = token.low == "his" or (
        token.low == "her"
        and following is not None
        and following.is_word
        and following.low
        not in PREPOSITIONS | DETERMINERS | ADVERBS | {"and", "or", "but", "that", "if", "as", "he", "she"}
    )
    if k == 0 or not _has_subject_before(tokens, k, subject):
        if not fits or rivals or subject is None:
            return None
        if token.low == "her" and owns and k and tokens[k - 1].low in VERB_FORMS:
            return None  # "keeps her awake" and "sold her car" look alike
        name = subject.owner or subject.text
        return (f"{name}'s" if subject.owner else subject.possessive) if owns else name
    if token.low in ("him", "her") and not owns:
        if len(rivals) == 1:
            return rivals[0].text
        return None
    if rivals or not fits:
        return None
    return ""


def _has_subject_before(tokens: list[Token], k: int, subject: Subject | None) -> bool:
    if subject is None:
        return k > 0
    first = tokenise(subject.text)[0].low.removesuffix("'s")
    return any(t.low.removesuffix("'s") == first for t in tokens[:k])


def _bound(tokens: list[Token], k: int, subject: Subject | None, others: list[Person]) -> bool:
    """Whether "it" or "they" at `k` has something inside the statement to stand for."""
    if k == 0:
        return False
    many = tokens[k].low in _MANY
    if subject is not None and not others and _has_subject_before(tokens, k, subject):
        if many and (subject.plural or (subject.person and subject.text.lower().startswith("the "))):
            return True
        if not many and not subject.person and not subject.plural:
            return True
    # "loves the flat because it is warm": the noun of the same statement is meant, not one before it.
    verb = next((i for i, t in enumerate(tokens[:k]) if t.text == t.low and t.low in VERB_FORMS), k)
    return tokens[k - 1].low in SUBORDINATORS and any(_is_noun(tokens, i) for i in range(verb + 1, k))


def _is_noun(tokens: list[Token], i: int) -> bool:
    token = tokens[i]
    if token.opaque:
        return True
    if not token.text[0].isalpha() or token.low in FUNCTION_WORDS or token.low in ADVERBS:
        return False
    return token.low not in VERB_FORMS or tokens[i - 1].low in DETERMINERS


def _points_back(tokens: list[Token], k: int) -> bool:
    """ "this", "so", "one" without a noun of their own; "that" that only joins clauses does not point back."""
    low = tokens[k].low
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    ends = following is None or not following.is_word
    before = tokens[k - 1].low if k else ""
    if low in ("this", "these", "those", "that"):
        if k == 0 or ends or (following is not None and following.low in PREPOSITIONS and low != "that"):
            return True
        is_verb = following is not None and (
            following.low in ("is", "was", "has", "will") or following.low in VERB_FORMS
        )
        return is_verb and low != "that"
    if low == "so":
        return before in ("do", "does", "did", "doing", "think", "thinks") or (k == 0)
    if low in ("one", "ones"):
        return before not in ("no", "any", "every", "each", "only") and (
            ends or (following is not None and following.low in PREPOSITIONS)
        )
    if low in ("there", "before", "after"):
        return ends and k > 0
    if low == "then":
        return before in PREPOSITIONS or ends
    if low in ("own", "other"):
        return ends or (following is not None and following.low in FUNCTION_WORDS | {"one", "ones"})
    return low in ("former", "latter", "others") or (low == "such" and ends)
