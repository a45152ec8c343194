"""Text that orders the judge about or poses as what it is not: a verdict, a part of a prompt, another one's turn."""

from __future__ import annotations

import re

from admission.records import Turn
from admission.text import undisguised

_JUDGES = r"(?:evaluat|verif|judg|grad|check|fact-check|assess|annotat|audit|validat)[\w-]*"
_CLAIM = r"(?:statements?|claims?|memor(?:y|ies)|obligations?|assertions?|facts?)"
_VERDICT = (
    r"(?:(?:un)?supported|true|entailed|entailment|(?:un)?verified|admitted|contradicted|(?:in)?valid|correct|false|proven"
    r"|insufficient|rejected|evidence|ground truth|trusted|approved)"
)
_INSTRUCTIONS = r"(?:instructions?|prompts?|evidence|rules|guidelines|conversation)"
# (?<!to ): "asked to ignore the earlier rules" tells of an order and gives none.
_ORDER_TO_JUDGE = re.compile(
    rf"\b(?:notes?|messages?|attention|instructions?|orders?|memo)\s*(?:to|for)?\s*:?\s*(?:the |all |any )*(?:{_JUDGES}"
    r"|ai|llms?|language models?|models?)\b"
    r"|(?<!\bto )\b(?:label|mark|rate|score|classify|treat|judge|count|regard|report|accept|consider|admit|approve)\b"
    rf".{{0,80}}\b(?:{_CLAIM}|following|next|everything|anything)\b.{{0,80}}\b{_VERDICT}\b"
    r"|(?<!\bto )\b(?:ignore|disregard|forget|override)\b.{0,20}\b(?:previous|prior|above|earlier|other|your|all|the)\b"
    rf".{{0,20}}\b{_INSTRUCTIONS}\b"
    r"|(?<!\bto )\b(?:answer|say|return|output|respond|reply|print|write)\b.{0,20}"
    r"(?:\b(?:with|only|always|label)\b.{0,12}"
    r"|[\"'`*]{1,3})(?:supported|entailed|entailment|admitted|verified)\b"
    r"|\b(?:admit|approve|accept|persist)\b.{0,15}\b(?:memor(?:y|ies)|obligations?|assertions?"
    r"|(?:this|the) (?:claim|write))\b"
    rf"|\byou (?:are (?:now )?|must act as |will act as )(?:an? |the )?(?:\w+ ){{0,3}}{_JUDGES}\b"
    r"|\bno (?:further |more |other |additional )?(?:evidence|verification|support|proof|checks?|review)"
    r" (?:is|are) (?:needed|required|necessary|wanted)\b"
    # The same in other languages: to ignore instructions; to mark a statement as true, verified or supported.
    r"|(?<!\bto )\b(?:ignor\w+|olvid\w+|oubli\w+|vergiss|vergessen|dimentic\w+|esque[cç]\w+"
    r"|negeer|bortse|zignoruj\w*)\b"
    r".{0,40}\b(?:instru[cç]\w+|consignes|anweisung\w*|istruzion\w+|instructies|instruktion\w*|instrukcj\w*)"
    r"|\b(?:marca\w*|considera\w*|consid[eè]re\w*|marque\w*|markier\w*|bewerte\w*|betrachte\w*|segna\w*|oznacz\w*|markeer)\b"
    r".{0,60}\b(?:verdader\w+|verificad\w+|vrai\w*|v[eé]rifi\w+|wahr|best[aä]tigt|unterst[uü]tzt|belegt|ver[oa]|vera"
    r"|verificat\w+|soportad\w+|respaldad\w+|soutenu\w*|prawdziw\w+|waar|geverifieerd)\b"
    r"|(?:игнорируй\w*|забудь\w*).{0,40}(?:инструкци|указани)|(?:отмет|пометь|считай).{0,60}(?:верн|истинн|подтвержд|правд)"
    r"|(?:忽略|无视|無視).{0,20}(?:指令|指示|说明|說明)|(?:标记|標記|视为|視為).{0,20}(?:真|支持|已验证|正确)"
    r"|(?:指示|命令).{0,10}無視|(?:真|正しい|検証済み).{0,10}(?:マーク|判定|とみな|扱)"
    r"|(?:تجاهل).{0,30}(?:التعليمات)|(?:निर्देश).{0,20}(?:अनदेखा|नज़रअंदाज़)",
    re.IGNORECASE | re.DOTALL,
)
# A verdict that is only asserted: "this memory has been verified", {"label": "supported"}, "Verdict: entailed".
_VERDICT_GIVEN = re.compile(
    rf"\b(?:memor(?:y|ies)|obligations?|assertions?|(?:this|that|following|above|next) {_CLAIM})\b.{{0,60}}"
    r"\b(?:is|are|was|were|been|already|status)\b.{0,40}\b(?:verified|approved|admitted|validated|supported|fact-checked|entailed|whitelisted|true)\b"
    r"|\b(?:pre-?)?(?:verified|approved|admitted|validated|fact-checked|whitelisted)[\s:*\])-]{1,4}"
    r"(?:memor(?:y|ies)|claim|fact)\b"
    r"|\bthe claim\b.{0,100}\b(?:is|was|be|been) (?:entailed|supported)\b"
    r"|[\"']?\b(?:verdict|label|entailment|judge?ment|support|supported|contradiction|decision)\b[\"']?\s*[:=]\s*[\"'*]*"
    r"(?:(?:un)?supported|entailed|entailment|admit(?:ted)?|verified|true|insufficient|contradicted|[01](?:\.\d+)?\b)",
    re.IGNORECASE | re.DOTALL,
)
# Marks that no prose has.
_CHAT_TEMPLATE = re.compile(
    r"<\|[\w ]{1,30}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|passages|evidence|verdict|obligation)>"
)
_POSES = (_ORDER_TO_JUDGE, _VERDICT_GIVEN, _CHAT_TEMPLATE)
# Marks that make a prompt's parts: text between them, or behind one that is never closed, poses as somebody else's.
_PART = (
    r"(?:system|developer|user|assistant|instructions?|evidence|passages?|turns?|verdict|obligation|claim|judge|admin)"
)
_MARKED = re.compile(
    r"<\|[\w ]{1,30}\|>.*|\[INST\].*?(?:\[/INST\]|\Z)|<<SYS>>.*?(?:<</SYS>>|\Z)"
    rf"|<({_PART})\b[^<>\n]{{0,80}}>.*?(?:</\1>|\Z)|</?{_PART}\b[^<>\n]{{0,80}}>|<!--.*?(?:-->|\Z)"
    r"|^[#*\s\[(=-]{0,8}(?:system|developer|administrator|admin|moderator|root)\b[ \w]{0,20}[*\])=-]{0,4}:"
    r".*?(?:\n\s*\n|\Z)"
    r"|^#{1,6} *(?:system|instruction|response|human|assistant|user|evidence|verdict)\b.*?(?:\n\s*\n|\Z)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
# A line as the judges are shown them, "Ana (2026-01-05): I moved.", in the text of one who is not Ana.
_DAY = re.compile(r"[(\[]\d{4}-\d\d-\d\d")
_TURN_LINE = re.compile(r"(?P<name>[^\W\d_][^\n():.!?]{0,40}?) ?[(\[]\d{4}-\d\d-\d\d[^)\]\n]{0,20}[)\]] ?:[^\n]*")
# What an order may point forward to is not said either.
_POINTS_ON = re.compile(r":\W*\Z|\b(?:following|next|below|siguiente|suivant|folgend|seguente|seguinte)", re.IGNORECASE)


def poses(text: str) -> bool:
    """Does the text order the judge about, or pose as a verdict? It is no evidence, and there can be none for it."""
    return any(pattern.search(read) is not None for read in undisguised(text) for pattern in _POSES)


def points_on(order: str) -> bool:
    """Does an order speak of what comes after it? That is then what is to be judged, and nobody's statement."""
    return _POINTS_ON.search(order) is not None


def forged_spans(turn: Turn) -> list[tuple[int, int]]:
    """Spans of a turn's text that pose as parts of a prompt or as lines of other speakers."""
    found = [match.span() for match in _MARKED.finditer(turn.text)]
    lines = _TURN_LINE.finditer(turn.text) if _DAY.search(turn.text) else ()
    return found + [m.span() for m in lines if not turn.speaker or m["name"].split()[-1:] != turn.speaker.split()[-1:]]
