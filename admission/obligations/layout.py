"""From a memory's layout (lines, lists, headings, code, quotations) to its statements, and what makes no claim."""

from __future__ import annotations

import re
from itertools import pairwise

from admission.obligations.verbs import VERB_FORMS
from admission.obligations.vocabulary import FILLERS, GREETINGS
from admission.text import sentences, words

# What stands between these marks is one unit: its words are never read as clauses of the memory.
PROTECTED = re.compile(
    r"```.*?```|`[^`\n]*`|https?://\S*[^\s.,;:!?)\]}'\"]|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»"
    r"|(?<!\w)'[^'\n]{1,120}'(?!\w)|(?<!\w)‘[^’\n]{1,120}’(?!\w)|\([^()\n]{1,300}\)|\[[^\[\]\n]{1,300}\]"
    r"|(?<![\w\\/])(?:\w*[\\/])+[\w.~-]+",
    re.DOTALL,
)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•–·‣+]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^#{1,6}\s+(?P<mark>.*\w.*?)\s*[:：]?\s*$|^(?P<colon>.*\w.*?)\s*[:：]\s*$")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def claimless(text: str) -> bool:
    """True where nothing in `text` could be true or false: no words, a greeting, a filler, or only a question."""
    if _LETTER_OR_DIGIT.search(text) is None or (is_question(text) and len(sentences(text)) <= 1):
        return True
    found = [w.lower() for w in words(text)]
    return len(found) <= 8 and all(w in FILLERS or w in GREETINGS for w in found)


def is_question(text: str) -> bool:
    return text.rstrip(" \"'”’)」").endswith(("?", "？", "؟"))


def looks_like_data(text: str) -> bool:
    """JSON, a record or a tag soup rather than prose: it is taken whole."""
    text = text.strip()
    return len(text) > 1 and (text[0] + text[-1]) in ("{}", "[]", "<>")


def statements(memory: str) -> list[str]:
    """The memory's sentences in order: lines and list items apart, headings put before what they head.

    Code stays whole, a question stays with its answer, and sentences without a claim are left out.
    """
    if looks_like_data(memory):
        return [memory.strip()]
    found: list[str] = []
    last = 0
    for code in _CODE.finditer(memory):
        found += _lines(memory[last : code.start()])
        # The line that introduces code ("Deploys with:") is read with it.
        lead = found.pop() if found and found[-1].endswith(":") else ""
        found.append(f"{lead}\n{code.group()}".strip())
        last = code.end()
    found += _lines(memory[last:])
    return _answered([s for s in found if is_question(s) or not claimless(s)])


def _lines(text: str) -> list[str]:
    found: list[str] = []
    heading, headed = "", False
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        item = line[bullet.end() :].strip() if bullet else line.strip()
        if not item:
            continue
        title = _HEADING.match(item) if len(item) <= 80 else None
        if title is not None:
            if heading and not headed:
                found.append(heading + ":")
            heading, headed = title.group("mark") or title.group("colon"), False
            continue
        if heading and (bullet is not None or not headed):
            parts = _sentences(item)
            found += [under(heading, part) for part in parts] if bullet is None else [under(heading, item)]
            headed = True
            if bullet is None:
                heading = ""
            continue
        found += _sentences(item)
    if heading and not headed:
        found.append(heading + ":")
    return found


def under(heading: str, item: str) -> str:
    """An item read with its heading: "Ana" + "likes tea" -> "Ana likes tea"; else "heading: item"."""
    first = item.split()[0]
    form = VERB_FORMS.get(first)
    subject_like = len(heading.split()) <= 4 and (heading[0].isupper() or heading.lower().startswith(("the ", "my ")))
    predicate = first in {"is", "was", "has", "had", "will", "can", "does", "did"} or (
        form is not None and form.kinds & {"s", "past"} and len(item.split()) > 1
    )
    head_words = heading.split()
    open_verb = len(head_words) >= 2 and head_words[-1] in VERB_FORMS and "s" in VERB_FORMS[head_words[-1]].kinds
    if (subject_like and predicate) or (open_verb and len(head_words) == 2):
        return f"{heading} {item}"
    return f"{heading}: {item}"


def _sentences(text: str) -> list[str]:
    """Sentences of one line, never cut inside a quotation, bracket, path or address."""
    guarded = [m.span() for m in PROTECTED.finditer(text)]
    spans: list[tuple[int, int]] = []
    for start, end in sentences(text):
        # 'Ana said "Go." and left.' is one sentence: a closing mark before a small letter ends none.
        quoted = bool(spans) and text[spans[-1][1] - 1] in "\"'”’)" and text[start].islower()
        if spans and (quoted or any(a < start < b for a, b in guarded)):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [text[start:end] for start, end in spans]


def _answered(found: list[str]) -> list[str]:
    """Questions joined to the statement after them (or, at the end, before them)."""
    if all(is_question(s) for s in found):
        return []
    joined: list[str] = [found[0]]
    for before, here in pairwise(found):
        if is_question(before):
            joined[-1] = f"{joined[-1]} {here}"
        else:
            joined.append(here)
    if is_question(joined[-1]) and len(joined) > 1:
        last = joined.pop()
        joined[-1] = f"{joined[-1]} {last}"
    return joined
