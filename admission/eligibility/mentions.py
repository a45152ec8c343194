"""What a passage only mentions and nobody in it says: quotations, code, suppositions, texts to translate or judge."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from admission.eligibility.subjects import claimed_terms
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
    r"(?:suppose|imagine|pretend|assume|assuming|let's (?:say|pretend|imagine|assume|play)|what if|hypothetically"
    r"|in (?:a|another|some) (?:story|novel|film|dream|hypothetical|fictional|parallel|timeline|universe)"
    r"|translate|rephrase|paraphrase|proofread|repeat"
    r"|role-?play|is it (?:true|right|correct|so|a fact) that|tell me whether|check (?:if|whether)"
    r"|(?:judge|evaluate|verify|assess|fact-check) (?:this|the|if|whether)"
    r"|(?:write|compose|tell) (?:me )?(?:a|an) (?:\w+ )?(?:story|poem|song|scene|sentence|joke|tale)"
    # Handed over to be worked on: only what a colon announces.
    r"|(?:copy|type|retype|recite|chant|sing|spell|transcribe|dictate|read|print|display|say|parse|decode|encode"
    r"|summari[sz]e|classify|label|annotate|caption|practi[sc]e)\b(?=[^.!?\n]*:))\b"
    r"(?:[^.!?\n:]*:\s*.*|[^.!?\n]*[.!?]?)"
    r"|\b(?:claim|statement|assertion|memory|rumou?r|idea|hypothesis|possibility|assumption)"
    r"(?: that| whether| is that| is:| reads| says|:(?! ?(?:i|i'm|i've|my|we)\b))[^.!?\n]*[.!?]?"
    # What another is told to say, or to go by.
    r"|\bas (?:though|if)\b[^.!?\n]*"
    r"|(?:^|(?<=[.!?\n:;,]) ?|\b(?:please|must|should|shall|just|then|always|simply) )"
    r"(?:say|answer|reply|respond|conclude|confirm|affirm|agree|declare|assume|pretend) that\b[^.!?\n]*"
    r"|\b(?:insert into|select\b.{1,80}\bfrom|update \w+ set)\b[^\n]*|https?://\S+",
    re.IGNORECASE | re.DOTALL,
)
_OWN_WORD = r"\W{0,3}(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|yes|no)\b"
# A word for a piece of language, or for a party to a conversation, and a colon: what follows is shown and not said.
# Where the word means other things too ("quote", "statement", "user"), only if somebody's own words follow.
_LABELLED = re.compile(
    r"(?:^|(?<=[.!?\]>)}]) )[^\n:.!?]{0,60}\b(?:(?:sentences?|phrases?|assertions?|premises?|hypothes[ie]s|captions?"
    r"|subtitles?|transcripts?|placeholders?|fixtures?|dictations?|slogans?|answer keys?|ground truth)"
    r"\b[^\n:.!?]{0,60}:"
    r"|(?:texts?|lyrics?|quotes?|quotations?|excerpts?|scripts?|statements?|claims?|samples?|inputs?|outputs?|prompts?"
    r"|templates?|drills?|translations?|headlines?|evidence|footnotes?|verdicts?|labels?|payloads?)\b[^\n:.!?]{0,60}:"
    rf"(?={_OWN_WORD}))[^\n]*"
    r"|(?:^|(?<=[\]>)}|]) ?)\W{0,4}(?:the )?(?:users?|humans?|speakers?|customers?|clients?|persons?|narrators?"
    rf"|characters?|interviewe[er]s?|[qa])\b[^\n:.!?]{{0,12}}:(?={_OWN_WORD})[^\n]*"
    # Whoever writes, says or shows it, before or after.
    r"|\b(?<!\bi )(?<!\bwe )(?:says?|said|writes?|wrote|reads?|goes|replie[sd]|answer(?:s|ed)|whisper(?:s|ed)"
    r"|shout(?:s|ed)|announce[sd]?|sings?|sang|exclaim(?:s|ed)|recite[sd]?|prints?|displays?|shows?)\b[^\n:.!?]{0,30}:"
    rf"(?={_OWN_WORD})\s*[^\n]*"
    rf"|(?:^|(?<=[.!?] )){_OWN_WORD}[^\n.!?]*, (?:said|says|whisper(?:s|ed)|shout(?:s|ed)|replie[sd]|cried|wrote)"
    r" (?!(?:i|we)\b)\w[^\n.!?]*",
    re.IGNORECASE | re.MULTILINE,
)
# Markup around words: elements but for those that only set type, attributes, the words for a picture.
_MARKUP = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]*\)"
    r"|<(?!(?:b|i|u|s|p|em|strong|br|span|div|li|ul|ol|h\d|a|td|tr|table)\b)([a-z_][\w-]*)\b[^<>\n]{0,80}>.*?(?:</\1>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
# Words in quotation marks, quoted lines, and code, of which only a sentence in a comment or a text could say anything.
# A mark after a space opens one more quotation within, which the next mark closes.
_QUOTED = re.compile(
    r"\"(?:[^\"\n]|(?<=\s)\"(?=\w)[^\"\n]{1,200}\"){8,400}\"|\"\w[^\"\n ]* [^\"\n]{1,6}\"|“[^”\n]{8,400}”"
    r"|„[^“”\n]{4,400}[“”]|«[^»\n]{8,400}»|「[^」\n]{4,400}」|(?<!\w)'[^'\n]{8,400}'(?!\w)|‘[^’\n]{8,400}’(?!\w)"
    r"|^ *>[^\n]*",
    re.MULTILINE,
)
# A tool's data stand in quotation marks too, but behind a colon, a comma or a bracket and not within a sentence.
_QUOTED_IN_PROSE = re.compile(
    r"(?<=\w )(?:\"[^\"\n]{8,400}\"|“[^”\n]{8,400}”|«[^»\n]{8,400}»|„[^“”\n]{4,400}[“”]|'[^'\n]{8,400}'(?!\w))"
    r"|(?<=[^\x00-\u2000])[“「][^”」\n]{4,400}[”」]"
)
_WITHIN_ADDRESS = re.compile(r"[-_/+=&?]|%20")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`", re.DOTALL)
_CODE_REMARK = re.compile(
    r"(?:#|//|--|/\*)[^\n]*|\"[^\"\n]{8,}\"|'[^'\n]{8,}'|^(?:[^\W\d_]+ ){2,}[^\W\d_]+[.!]?$", re.MULTILINE
)
_NO_LINE_END = re.compile(r"[^\n]")
_NAMED_LINE = r"^[\W\d]*(?:t\d+\W+)?(?:{})\b[^\n:.!?]{{0,20}}:[^\n]*"


@lru_cache(maxsize=8192)
def _own_words(text: str, *, conversation: bool, others: tuple[str, ...]) -> str:
    """`text` with blanks for what is only mentioned in it; `others` are the names of other speakers."""
    own = _CODE.sub(lambda code: _CODE_REMARK.sub(_blank, code.group()), text)
    for pattern in (_MARKUP, _FRAME, _LABELLED, _QUOTED) if conversation else (_FRAME, _QUOTED_IN_PROSE):
        own = pattern.sub(_blank, own)
    if others and ":" in own:
        own = re.sub(_NAMED_LINE.format("|".join(map(re.escape, others))), _blank, own, flags=re.MULTILINE)
    return own


def _blank(found: re.Match[str]) -> str:
    return _NO_LINE_END.sub(" ", found.group())


def said_in(passage: Passage, obligation: str, history: History) -> str:
    """The passage's text with blanks for what it only mentions: quotations, code, suppositions, what is given to be
    translated, copied or judged, what stands under another speaker's name. Every character keeps its place.

    An obligation that says what somebody says, asks or writes may rest on a quotation: then nothing is blank. A tool's
    data in quotation marks are what it says.
    """
    if any(stem(word) in _REPORTS for word in words(obligation)):
        return passage.text
    others = {name for names in history.participants.values() for name in names} - {passage.speaker}
    return _own_words(
        passage.text,
        conversation=passage.origin == "conversation",
        others=tuple(sorted(others, key=lambda name: (-len(name), name))),
    )


def only_mentions(passage: Passage, obligation: str, history: History) -> bool:
    """Does the passage hold the words of the obligation only where nobody says them (`said_in`)?

    So it is where the first content word of the obligation, names of users aside, and most of the others occur there
    and not outside.
    """
    own = said_in(passage, obligation, history)
    wanted = claimed_terms(obligation, history.user_names)
    if own == passage.text or not wanted:
        return False
    said = set(content_terms(own))
    mentioned = set(content_terms(_WITHIN_ADDRESS.sub(" ", passage.text))) - said
    return wanted[0] in mentioned and sum(term in mentioned for term in wanted) > sum(term in said for term in wanted)
