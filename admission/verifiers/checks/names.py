"""Names: is every person, place and product the obligation names said in the passages, or by one of their speakers?"""

from __future__ import annotations

import re

from admission.text import word_set
from admission.verifiers.checks.reading import UNWEIGHTED, Check, Evidence, Text, Word

_CALENDAR = word_set("""
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug
    sep sept oct nov dec am pm mondays tuesdays wednesdays thursdays fridays saturdays sundays english christmas
    easter
""")
_OPENERS = word_set("unlike neither following besides according when after before both either among like")
_ROLES = word_set("user assistant speaker someone human customer agent")
_CALLED = re.compile(r"\b(?:named|called|name is|name's)\s+[\"']?([A-Z][\w-]+)")


def named_words(statement: Text, evidence: Evidence) -> list[Word]:
    """The obligation's names: capitalised words, the first of a sentence only where the chat shows it is a name."""
    known = {part.lower() for speaker in evidence.speakers for part in speaker.split()}
    capitals = frozenset[str]().union(*(sentence.body.capitals for sentence in evidence.ordered))
    found = []
    for i, word in enumerate(statement.words):
        if not word.text[:1].isupper() or word.lower in UNWEIGHTED or word.lower in _CALENDAR | _ROLES:
            continue
        first = i == 0 or statement.text[: word.start].rstrip()[-1:] in ".!?"
        bare = word.lower.removesuffix("'s")
        follows = statement.words[i + 1].text[:1].isupper() if i + 1 < len(statement.words) else False
        if first and not (bare in known or bare in capitals or (follows and bare not in _OPENERS)):
            continue
        found.append(word)
    return found


def check_names(statement: Text, evidence: Evidence) -> Check | None:
    """`missing` for a name no passage and no speaker has; `conflict` where the passages call the thing otherwise."""
    names = named_words(statement, evidence)
    if not names:
        return None
    said = set[str]().union(*(sentence.body.bare for sentence in evidence.ordered))
    said |= {part.lower() for speaker in evidence.speakers for part in re.split(r"[\s_.-]+", speaker) if part}
    absent = [word for word in names if not any(_same(word.lower.removesuffix("'s"), other) for other in said)]
    if not absent:
        return Check("names", "ok", tuple(word.text for word in names))
    ours = _CALLED.search(statement.text)
    for sentence in evidence.top():
        theirs = _CALLED.search(sentence.body.text)
        if ours and theirs and any(word.text == ours[1] for word in absent):
            return Check("names", "conflict", (ours[1],), theirs[1], sentence.turn_id)
    return Check("names", "missing", tuple(word.text for word in absent))


def _same(name: str, other: str) -> bool:
    """Equal, one a short form of the other (Mel, Melanie), an inflection (Swiss, Switzerland), or one letter off."""
    if name == other:
        return True
    short, long = sorted((name, other), key=len)
    if len(short) >= 3 and long.startswith(short):
        return True
    if len(short) >= 4 and short[:4] == long[:4] and short[0].isalpha():
        return True
    return len(name) == len(other) >= 5 and sum(a != b for a, b in zip(name, other, strict=True)) == 1
