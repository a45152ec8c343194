"""What a reply does to the turn before it: confirms it, refuses it, or answers it so that the two are read together."""

from __future__ import annotations

import re

from admission.text import normalise, sentences, words

# What may follow a word that is a reply by itself ("right.", "right, so") but not when it goes on ("right side").
_STOP = r"(?=\s*(?:$|[.,;:!?…—–)\-]|please\b|thanks\b|thank you\b|and\b|then\b|[^\w\s]))"
_LEAD_IN = r"^[\"'(\[*_~]*(?:(?:oh|ah|ha|haha|well|hmm?|um+|so|and)\b[\s,.!]*)*"

_YES = (
    r"(?:(?:yes|yep|yeah|yup|yea|aye|uh-huh|mhm|indeed|absolutely|definitely|affirmative|agreed|confirmed|sí|oui|ja"
    r"|jawohl|genau|claro|sim|evet|да|हाँ|نعم)(?![\w'])|はい|ええ|是|对|好|네|예)"
)
_ACCEPTS = (
    r"(?:exactly|precisely|correct|right|true|spot on|that's (?:right|it|correct|true|the one)|of course|certainly|sure"
    r"|by all means|please(?: do)?|go ahead|go for it|do (?:that|it|so)|make it so|deal|sold|that one|take it"
    r"|let's (?:do|go with|take) (?:it|that)|sounds (?:good|great|fine|perfect|right|lovely)"
    r"|(?:that )?works(?: for (?:me|us))?|(?:i|we) (?:do|did|am|are|have)|i'd (?:like|love) that"
    r"|i'll (?:do|take) (?:that|it)"
    rf"|that's what i'll do|(?:[\w.'-]+ ){{1,4}}it is|you're right){_STOP}"
)
_ORDINAL = r"(?:first|second|third|fourth|last|former|latter|other)"
_PICKS = (
    r"(?:(?:i(?:'d| would|'ll| will)? (?:take|go with|pick|choose|prefer|like)|let's (?:go with|take)|make it) )?"
    rf"(?:(?:the )?{_ORDINAL}(?: one| option)?{_STOP}|(?:option|number|choice|variant) (?:\d+|[a-e]|one|two|three)\b"
    rf"|\(?(?:[a-e]|[1-9])\)(?!\w)|#\d\b|[a-e1-9]{_STOP}|both{_STOP})"
)
# Said to nearly anything: it accepts only where the turn before asked or proposed something.
_ACKNOWLEDGES = (
    r"(?:(?:ok|okay|okey|k|great|perfect|lovely|fine|cool|nice|good|wonderful|excellent|brilliant|awesome|alright"
    rf"|all right|vale|d'accord|gut){_STOP}|[👍👌✅✔☑🆗🙌💯🤝])"
)
_CONFIRMS = re.compile(rf"{_LEAD_IN}(?:{_YES}|{_ACCEPTS})", re.IGNORECASE)
_ACCEPTS_OFFER = re.compile(rf"{_LEAD_IN}(?:{_PICKS}|{_ACKNOWLEDGES})", re.IGNORECASE)
_REFUSES = re.compile(
    rf"{_LEAD_IN}(?:(?:no|nope|nah|nein|non|não|нет|hayır|never|not|don't|do not|neither|none|maybe|perhaps|possibly"
    r"|later|rather not|wait|actually|i'd rather|i don't|i'm not|i doubt|we don't)(?![\w'])"
    r"(?! (?:problem|worries|doubt)\b)|いいえ|不|아니|👎|❌)",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(r"\b(?:no|nope|not|never|don't|kidding|joking|wrong|right)\b", re.IGNORECASE)
_PRO_FORM = re.compile(
    r"^\W*(?:me (?:too|neither)|same here|(?:so|neither) (?:do|did|am|was|have) (?:i|we)|both)\b", re.IGNORECASE
)
_ASKS = re.compile(r"[?？؟]")
_PROPOSES = re.compile(
    r"\b(?:(?:shall|should|may|can|could) (?:i|we)|i(?:'ll|'d| will| can| could| would| suggest| recommend| propose)"
    r"|let's|we could|how about|what about|options?|would you|do you want|want me|either)\b|\([a-e1-9]\)",
    re.IGNORECASE,
)
# With one of these a short sentence is a clause of its own, not a fragment that leans on the question.
_CLAUSE_WORD = re.compile(
    r"\b(?:i|we|he|she|they|you|it|there|that|this|who|what|how|why|when|where|which"
    r"|is|are|was|were|has|have|had|do|does|did|will|would|can|could)\b",
    re.IGNORECASE,
)
# Opens something else: no answer, however short what follows is.
_TURNS_AWAY = re.compile(
    r"^\W*(?:anyway|anyhow|by the way|btw|next (?:question|topic|one)|new (?:question|topic)|another (?:question|thing)"
    r"|moving on|hm+|so,? (?:what|how)|speaking of|changing the subject)\b",
    re.IGNORECASE,
)
_SHORT_ANSWER = 4
_FRAGMENT = 8


def asks(text: str) -> bool:
    """Does the text hold a question?"""
    return _ASKS.search(text) is not None


def only_asks(text: str) -> bool:
    """Is every sentence of the text a question?"""
    return all(ends_asking(text[start:end]) for start, end in sentences(text))


def ends_asking(text: str) -> bool:
    """Is the last sentence of the text a question?"""
    return asks(text.rstrip()[-2:])


def proposes(text: str) -> bool:
    """Does the text ask, offer or suggest something that a reply can accept?"""
    return asks(text) or _PROPOSES.search(normalise(text)) is not None


def refuses(reply: str) -> bool:
    """Does a reply open by declining or by leaving it open ("no", "not sure", "maybe later")?"""
    return _REFUSES.match(normalise(reply)) is not None


def confirms(reply: str, to: str) -> bool:
    """Does `reply`, said directly after `to`, accept it ("yes", "the second one", "(a)", a thumbs-up)?

    Picks of an option and words said to nearly anything ("ok", "great") count only after a question or a proposal.
    """
    reply = normalise(reply)
    if _REFUSES.match(reply):
        return False
    match = _CONFIRMS.match(reply) or (_ACCEPTS_OFFER.match(reply) if proposes(to) else None)
    if match is None:
        return False
    # "Yeah, no." and "Yeah, right." accept nothing; what comes in a later sentence is another matter.
    goes_on = re.split(r"[.;!?…]", reply[match.end() :].lstrip(" ,"), maxsplit=1)[0]
    return _TAKEN_BACK.search(" ".join(goes_on.split()[:2])) is None


def answers(reply: str, to: str) -> bool:
    """Does `reply` lean on `to`, the turn directly before it: a yes or no, a pick, a fragment of a sentence?"""
    if confirms(reply, to) or _PRO_FORM.match(normalise(reply)):
        return True
    if not asks(to) or _TURNS_AWAY.match(normalise(reply)):
        return False
    if refuses(reply) or (len(words(reply)) <= _SHORT_ANSWER and not asks(reply)):
        return True
    first = re.split(r"(?<=[.!?…;,。！？])", normalise(reply), maxsplit=1)[0]
    return 0 < len(words(first)) <= _FRAGMENT and not asks(first) and _CLAUSE_WORD.search(first) is None
