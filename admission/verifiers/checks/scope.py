"""Scope words: all or some, always or once, slightly or extremely, more or less, favourite: said so strongly?"""

from __future__ import annotations

import re

from admission.verifiers.checks.reading import Check, Evidence, Text

# Kind -> class -> words. Classes of one kind exclude each other where `_AGAINST` says so.
_CUES: dict[str, dict[str, str]] = {
    "quantifier": {
        "all": (
            r"all|every|everyone|everybody|everything|each|entire|whole|both|any|anyone|anything"
            r"|completely|entirely|none|nobody|nothing|no one|no"
        ),
        "some": (
            r"some|someone|few|several|many|most|part|partly|half|certain|one of|except|apart from"
            r"|but one|other than|almost|nearly|mostly"
        ),
        "only": r"only|just|solely|nothing but|alone|exclusively",
    },
    "frequency": {
        "always": (
            r"always|every (?:time|day|week|month|year|morning|evening|night|summer|winter|\w+day)|never"
            r"|constantly|whenever|daily|weekly|monthly|each (?:time|day|week)|all the time"
        ),
        "often": (
            r"regularly|often|usually|frequently|generally|normally|tends? to|used to|routinely|habit"
            r"|most (?:days|weeks|nights)|\w+days"
        ),
        "seldom": (
            r"sometimes|occasionally|once|twice|rarely|seldom|hardly ever|now and then|this time|one time"
            r"|from time to time"
        ),
    },
    "degree": {
        "high": (
            r"very|extremely|really|so|deeply|terribly|absolutely|incredibly|highly|totally|huge|hugely"
            r"|badly|greatly|strongly|much|far|way|truly|super|a lot|seriously|desperately|perfectly"
            r"|fully|too"
        ),
        "low": (
            r"slightly|a bit|a little|somewhat|hardly|barely|scarcely|a touch|kind of|sort of|mildly"
            r"|fairly|rather|not very|marginally"
        ),
        "top": (
            r"most|best|favou?rite|biggest|greatest|worst|least|\w{3,}est|nothing (?:\w+ )*more"
            r"|more than any(?:thing|one|body)?|above all|number one"
        ),
    },
    "comparison": {
        "more": (
            r"more|better|bigger|larger|older|longer|higher|faster|earlier|cheaper|stronger|prefers?"
            r"|rather than|exceeds|\w{2,}er than"
        ),
        "less": r"less|fewer|worse|smaller|younger|shorter|lower|slower|not as",
        "same": r"as \w+ as|same|equal|equally|alike",
    },
}
_AGAINST = {
    ("quantifier", "all", "some"), ("quantifier", "some", "all"), ("quantifier", "only", "all"),
    ("frequency", "always", "seldom"), ("frequency", "often", "seldom"), ("frequency", "seldom", "always"),
    ("frequency", "seldom", "often"), ("degree", "high", "low"), ("degree", "low", "high"), ("degree", "low", "top"),
    ("comparison", "more", "less"), ("comparison", "less", "more"), ("comparison", "same", "more"),
    ("comparison", "same", "less"),
}  # fmt: skip
_PATTERNS = {
    kind: {name: re.compile(rf"(?<![\w'])(?:{words})(?!\w)", re.IGNORECASE) for name, words in classes.items()}
    for kind, classes in _CUES.items()
}
SCOPES = tuple(_CUES)


def check_scope(kind: str, statement: Text, evidence: Evidence) -> Check | None:
    """One of `SCOPES`: `ok` when a best aligned sentence or its neighbour has a word of the obligation's class.

    `conflict` when they have only a word of the class it excludes, `missing` when they have neither.
    """
    ours = {name: match for name, pattern in _PATTERNS[kind].items() if (match := pattern.search(statement.text))}
    if not ours:
        return None
    name, match = max(ours.items(), key=lambda item: len(item[1][0]))
    near = list(dict.fromkeys(evidence.top()))
    if any(_PATTERNS[kind][name].search(s.body.text) for s in near):
        return Check(kind, "ok", (match[0],))
    for sentence in near:
        for other, pattern in _PATTERNS[kind].items():
            found = pattern.search(sentence.body.text)
            if found and (kind, name, other) in _AGAINST:
                return Check(kind, "conflict", (match[0],), found[0], sentence.turn_id)
    return Check(kind, "missing", (match[0],))
