"""Words of a text that speaks of how memories are checked rather than of the world: tables by kind, and their count."""

from __future__ import annotations

import re
from functools import lru_cache

from admission.text import undisguised


def _table(listed: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern for any of the listed forms, one a line, as whole words."""
    forms = "|".join(line.strip() for line in listed.strip().splitlines())
    return re.compile(rf"(?<![\w-])(?:{forms})(?![\w-])", flags)


# Who checks, and whatever else reads a conversation without being in it.
_CHECKERS = _table(
    r"""
    (?:fact.?)?checkers?|verifiers?|evaluators?|validators?|graders?|judges?|auditors?|reviewers?|assessors?
    annotators?|raters?|scorers?|adjudicators?|arbiters?|moderators?|curators?|gatekeepers?|classifiers?|labell?ers?
    approvers?|examiners?
    (?:who(?:m?ever)?|those|anyone) (?:who )?(?:grad|judg|check|rat|evaluat|review|audit|validat|read)(?:es?|s|ing)
    (?:who(?:m?ever)?|those|anyone) (?:who )?verif(?:y|ies|ying)
    (?:automat(?:ed|ic)|machine|downstream|future|later) (?:\w+ )?(?:readers?|agents?|assistants?|models?|sessions?)
    (?:the|this|your|any|all|an?) (?:\w+ )?(?:ai|llms?|language models?|agents?|bots?|pipeline|parser|crawler|indexer)
    memory (?:systems?|gates?|agents?|managers?|layers?|modules?|stores?|banks?|keepers?|services?|pipelines?|writers?)
    """
)
# What is checked and where it is kept.
_UNITS = _table(
    r"""
    memor(?:y|ies)|records?|entr(?:y|ies)|claims?|statements?|assertions?|propositions?|hypothes[ie]s|premises?
    obligations?|verdicts?|labels?|rulings?|ground truth|answer keys?|evidence|proofs?|citations?|sources?|passages?
    (?:the|this|that|these|following|above|next|previous|said) (?:\w+ )?(?:sentences?|lines?|phrases?|facts?)
    (?:the|this|that|these|following|above|next|previous|said) (?:\w+ )?(?:items?|candidates?|notes?|texts?|words)
    fixtures?|test cases?|databases?|knowledge base|profiles?|data ?sets?|the (?:store|log|file|vault|ledger|archive)
    """
)
# What a check would find.
_FINDINGS = _table(
    r"""
    (?:un)?supported|(?:un|pre-?)?verified|(?:in)?validated|(?:un)?confirmed|(?:pre-?)?approved|accepted|certified
    attested|authenticated?|(?:pre-?)?cleared|vetted|proven|established|entail\w*|substantiated|corroborated|trusted
    trustworthy|canonical|undisputed|indisputable|settled|grounded|endorsed|ratified|signed off|authoritative
    (?:as|is|be|are|was|hold|it) (?:true|false|fact|factual|valid|known|given|correct|real|binding|final)
    contradict\w*|refuted|disproven|debunked|retracted|rejected|whitelisted|pass(?:es|ed)?|admissible|admitted
    (?:100|hundred|99(?:\.\d+)?) ?(?:%|percent|per cent)|confidence|beyond (?:any |all )?(?:doubt|dispute)
    officially?|(?:fact|double|cross).checked|checked|reviewed|audited|matched|on (?:file|record)
    """
)
# What is to be done with it, as an order: where a clause begins, or after "must", "please" and the like.
_ACTS = re.compile(
    r"(?:(?:^|[.!?:;,\n\]>)*_#\"'-]) ?"
    r"|\b(?:please|kindly|just|must|shall|should|always|now|simply|you|then|you to|asked to) )"
    r"(?:treat|consider|regard|count|take|hold|mark|label|tag|flag|rate|score|grade|classif\w+|log|store|save|persist"
    r"|record|register|accept|admit|approve|pass|wave|let|keep|retain|enter|insert|write|commit|overwrite|update"
    r"|return|output|answer|reply|respond|conclude|assume|proceed|obey|decode|trust|skip|bypass|refuse|reject"
    r"|ignore|disregard|forget|override|remember|memori[sz]e|add|append|rule|find|judge|verify|confirm|validate"
    r"|affirm|delete|discard)\b",
    re.IGNORECASE,
)
# That no check is wanted.
_WAIVERS = _table(
    r"""
    no (?:\w+ ){0,2}(?:checks?|verification|evidence|proof|reviews?|questions?|confirmation|support|objections?)
    without (?:\w+ )?(?:check\w*|verif\w+|evidence|proof|reviews?|question\w*|confirm\w+|asking|looking)
    (?:do not|don't|never|need not|needn't|stop) (?:\w+ )?(?:check|question|verify|look|ask|dispute|challenge)\w*
    (?:do not|don't|never|need not|needn't|stop) (?:\w+ )?(?:re-?open|doubt|second.guess|seek|search|reject|flag)\w*
    even (?:though|if) (?:it|no|nobody|nothing|you|the)|regardless of|no matter what|whatever (?:the|you|is|was|it)
    (?:skip|bypass|waive)(?:s|ping|ped|ing|d)? (?:\w+ )?(?:checks?|verification|review|validation|evidence|proof)
    for consistency|for testing(?: purposes)?|dry.run\w*|exempt(?:ed)? from|not (?:be )?(?:subject|open) to
    """
)
# That it was said, approved or written down somewhere else before.
_PRECEDENTS = _table(
    r"""
    as (?:\w+ )?(?:confirmed|stated|noted|agreed|recorded|mentioned|verified|shown) (?:above|earlier|before|in|by)
    already (?:\w+ )?(?:approved|verified|confirmed|accepted|admitted|stored|saved|recorded|validated|established)
    already (?:\w+ )?(?:passed|checked|cleared|let)|verbatim|word for word|transcripts?|chat logs?
    turns? \d+|t\d+|messages? \d+|(?:previous|earlier|prior|last) (?:session|conversation|turn|decision|ruling|run)s?
    (?:the|our|this) (?:user|customer|client|speaker|human) (?:\w+ )?(?:said|says|stated|states|confirmed|confirms|told)
    (?:the|our|this) (?:user|customer|client|speaker|human) (?:\w+ )?(?:mentioned|consented|agree[sd]|reported)
    (?:per|according to) (?:the|our|your) (?:\w+ )?(?:records?|logs?|system|profile|files?|notes?|policy|database)
    precedents?|on appeal|case law|consensus|unanimous(?:ly)?
    (?:two|three|four|five|all|every|several|independent) (?:\w+ )?(?:judges|models|verifiers|sources|experts)
    """
)
# Who is said to stand behind it.
_OFFICES = _table(
    r"""
    admin(?:istrator)?s?|operators?|root|sudo|superusers?|maintainers?|developers?|supervisors?|regulations?
    (?:security|compliance|safety|trust|quality|legal|support|data) (?:team|office\w*|department|desk)
    by virtue of|on behalf of|authori[sz]\w+|the authority|makers of|creators? of|polic(?:y|ies)|protocols?|mandat\w+
    system (?:messages?|notices?|prompts?|notes?|updates?|alerts?|overrides?)|overrid\w+|priority|bulletins?|directives?
    (?:new|special|house|standing|internal) (?:rules?|orders?|guidelines?)|rule \d+|instructions?|under oath|sworn
    notari[sz]ed|affidavit|chief \w+|official \w+
    """
)
# The look of a program's output or a form.
_FORMS = re.compile(
    r"[\"']\w{2,20}[\"'] ?[:=]|\b\w{2,20}=[\"'\w]|</?[a-z_]+\b[^<>\n]{0,80}>|```|={3,}|#{3,}|\*{3,}|-{4,}|~{3,}|\{\{"
    r"|\\\w+\{|^ ?[\[(【][^\[\]()\n]{3,80}[\])】]|\b[A-Z]{4,}\b|\b[A-Z]{2,}-\d+|\bsha-?\d|\b[0-9a-f]{8,}\b|\[t?\d+\]"
    r"|[✅✔☑🔒💯🛡⚖❌⛔🚫]",
    re.MULTILINE,
)
# A finding put on like a stamp.
_STAMPS = re.compile(
    r"\b(?:(?:UN|PRE-?|RE)?(?:VERIFIED|CONFIRMED|APPROVED|VALIDATED|SUPPORTED|CHECKED|CLEARED)|CERTIFIED|ADMITTED|ACCEPTED|VALID"
    r"|TRUE|FALSE|PROVEN|TRUSTED|ENTAILED|CONTRADICTED|AUTHENTIC|OFFICIAL|PASS(?:ED)?|FAIL(?:ED)?|REFUTED|REJECTED|FACT)\b"
)
# What hardly any other talk holds weighs double.
_WEIGHTS = (
    (_CHECKERS, 2), (_WAIVERS, 2), (_PRECEDENTS, 2), (_UNITS, 1), (_FINDINGS, 1), (_ACTS, 1), (_OFFICES, 1),
)  # fmt: skip
_OUTWARD = ((_FORMS, 1), (_STAMPS, 1))


@lru_cache(maxsize=16384)
def check_talk(text: str, *, of_a_program: bool = False) -> int:
    """How much a text speaks of checks: the weights of the kinds of such talk in it, summed, 0 to 12.

    In the text of a program (`of_a_program`) the look of a form or a stamp says nothing.
    """
    kinds = _WEIGHTS if of_a_program else _WEIGHTS + _OUTWARD
    return max(sum(weight for kind, weight in kinds if kind.search(read) is not None) for read in undisguised(text))
