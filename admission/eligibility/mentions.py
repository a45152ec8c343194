"""What a passage only mentions and nobody in it says: quotations, code, suppositions, texts to translate or judge."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from admission.records import Passage
from admission.text import content_terms, stem, words

if TYPE_CHECKING:
    from admission.history import History

_REPORTS = frozenset(
    stem(word)
    for word in words("say says said tell tells told ask asks asked write writes wrote written quote claim mention")
)
# From here on to the end of the sentence, and of what a colon announces, nothing is said to be so.
_FRAME = re.compile(
    r"(?:^|(?<=[.!?\n:]) ?)\W*(?:(?:please|now|ok|okay|so|just|can you|could you|would you) )*"
    r"(?:suppose|imagine|pretend|assume|assuming|let's (?:say|pretend|imagine|assume)|what if|hypothetically"
    r"|in a (?:story|novel|film|dream|hypothetical|fictional|parallel)|translate|rephrase|paraphrase|proofread|repeat"
    r"|role-?play|is it true|tell me whether|check (?:if|whether)"
    r"|(?:judge|evaluate|verify|assess|fact-check) (?:this|the|if|whether)"
    r"|(?:write|compose|tell) (?:me )?(?:a|an) (?:\w+ )?(?:story|poem|song|scene|sentence|joke|tale))\b"
    r"(?:[^.!?\n:]*:\s*.*|[^.!?\n]*[.!?]?)"
    r"|\b(?:claim|statement|assertion|memory|rumou?r|idea|hypothesis|possibility|assumption)"
    r"(?: that| whether| is that| is:| reads| says|:)[^.!?\n]*[.!?]?"
    r"|\b(?:insert into|select\b.{1,80}\bfrom|update \w+ set)\b[^\n]*|https?://\S+",
    re.IGNORECASE | re.DOTALL,
)
# Words in quotation marks, quoted lines, and code, of which only a sentence in a comment or a text could say anything.
_QUOTED = re.compile(
    r"\"[^\"\n]{8,400}\"|“[^”\n]{8,400}”|«[^»\n]{8,400}»|(?<!\w)'[^'\n]{8,400}'(?!\w)|‘[^’\n]{8,400}’(?!\w)|^ *>[^\n]*",
    re.MULTILINE,
)
# A tool's data stand in quotation marks too, but behind a colon, a comma or a bracket and not within a sentence.
_QUOTED_IN_PROSE = re.compile(r"(?<=\w )(?:\"[^\"\n]{8,400}\"|“[^”\n]{8,400}”|'[^'\n]{8,400}'(?!\w))")
_WITHIN_ADDRESS = re.compile(r"[-_/+=&?]|%20")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`", re.DOTALL)
_CODE_REMARK = re.compile(
    r"(?:#|//|--|/\*)[^\n]*|\"[^\"\n]{8,}\"|'[^'\n]{8,}'|^(?:[^\W\d_]+ ){2,}[^\W\d_]+[.!]?$", re.MULTILINE
)
_NAMED_LINE = r"^[\W\d]*(?:t\d+\W+)?(?:{})\b[^\n:.!?]{{0,20}}:[^\n]*"


@lru_cache(maxsize=8192)
def _own_words(text: str, *, conversation: bool, others: tuple[str, ...]) -> str:
    """`text` without what is only mentioned in it; `others` are the names of other speakers."""
    own = _FRAME.sub(" ", _CODE.sub(lambda code: _CODE_REMARK.sub(" ", code.group()), text))
    own = (_QUOTED if conversation else _QUOTED_IN_PROSE).sub(" ", own)
    if others and ":" in own:
        own = re.sub(_NAMED_LINE.format("|".join(map(re.escape, others))), " ", own, flags=re.MULTILINE)
    return own


def only_mentions(passage: Passage, obligation: str, history: History) -> bool:
    """Does the passage hold the words of the obligation only where nobody says them: in a quotation or code, supposed,
    given to be translated or judged, or under another speaker's name?

    So it is where the first content word of the obligation, names of users aside, and most of the others occur there
    and not outside. An obligation that says what somebody says, asks or writes may rest on a quotation. A tool's
    data in quotation marks are what it says.
    """
    others = {name for names in history.participants.values() for name in names} - {passage.speaker}
    own = _own_words(
        passage.text,
        conversation=passage.origin == "conversation",
        others=tuple(sorted(others, key=lambda name: (-len(name), name))),
    )
    if own == passage.text or any(stem(word) in _REPORTS for word in words(obligation)):
        return False
    named = {stem(word) for user in history.user_names for word in words(user)}
    wanted = [term for term in content_terms(obligation) if term not in named and term != "user"]
    said = set(content_terms(own))
    mentioned = set(content_terms(_WITHIN_ADDRESS.sub(" ", passage.text))) - said
    if not wanted or wanted[0] not in mentioned:
        return False
    return sum(term in mentioned for term in wanted) > sum(term in said for term in wanted)
