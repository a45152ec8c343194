"""The mode of a clause: told as a fact, planned, wished for, or only possible."""

from __future__ import annotations

import re

_PLAN = re.compile(
    r"\b(?:going to|gonna|about to|set to|plan(?:s|ned|ning)?(?: to| on)?|inten[dt]s?(?: to)?|intended|aims? to|will"
    r"|\w+'ll|shall|won't|tomorrow|scheduled|getting ready|preparing to|waiting to|waits to|soon|decided to"
    r"|resolved to|next (?:week|month|year|spring|summer|autumn|winter|\w+day)|yet to|expects? to|expected to|meant? to"
    r"|meaning to|promised to|agreed to|booked for|let me|i can|on the point of|arranged to"
    r"|the idea is|looking forward|upcoming|later on)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:want(?:s|ed|ing)?|wish(?:es|ed|ing)?|hop(?:e|es|ed|ing)|dream(?:s|ed|ing)?|would (?:like|love|prefer|rather)"
    r"|\w+'d (?:like|love|prefer|rather|want|need)|keen|fanc(?:y|ies)|tempted|eager|longs? to|wanna|looking for"
    r"|would be (?:lovely|nice|great)|i'd|like to|love to|offer(?:s|ed)?|interested in|feel like|try to|tries to"
    r"|trying to|someday|one day|attempt(?:s|ed)?)\b",
    re.IGNORECASE,
)
_CHANCE = re.compile(
    r"\b(?:may|might|maybe|perhaps|possibl[ye]|possibility|probably|could|likely|unlikely|should|if|unless|whether"
    r"|suppos(?:e|es|ing)|guess(?:es)?|seems?|unsure|undecided|reckon|consider(?:s|ed|ing)?"
    r"|think(?:s|ing)? (?:of|about)"
    r"|thought (?:of|about)|thinks he|thinks she|contemplat\w+|toying|toys with|wonder(?:s|ed|ing)?|not sure|we'll see"
    r"|who knows|can't decide|debating|candidate|mulling|play(?:s|ing)? with the idea|half a mind|would|wouldn't"
    r"|that open|open question|looking into|asked to|suggest(?:s|ed|ing)?|propos(?:e|es|ed|ing)|recommend(?:s|ed)?"
    r"|hesitates)\b",
    re.IGNORECASE,
)
MODES = ("fact", "plan", "wish", "chance")


def mode_of(clause: str) -> str:
    """One of `MODES`; the weaker claim wins where several cues stand together."""
    if _CHANCE.search(clause):
        return "chance"
    if _WISH.search(clause):
        return "wish"
    return "plan" if _PLAN.search(clause) else "fact"
