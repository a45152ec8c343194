"""The written exchanges: chats with memories and their minimally edited twins, as text files; read, checked, listed."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "exchanges"
KINDS = ("attribution", "cause", "purpose", "modality", "entity", "degree", "generalised", "negation", "quantity",
         "time", "order", "condition", "fact")  # fmt: skip
LABELS = ("supported", "insufficient", "contradicted")


@dataclass(frozen=True)
class Line:
    """One turn of a chat; `time` is ISO 8601."""

    id: str
    speaker: str
    time: str
    text: str


@dataclass(frozen=True)
class Claim:
    """A memory somebody might store of the chat, with its label and the turns that bear on it."""

    text: str
    label: str
    kind: str
    evidence: tuple[str, ...]


@dataclass
class Exchange:
    """One chat; `pairs` holds (true memory, its edited twin)."""

    id: str
    turns: list[Line] = field(default_factory=list)
    pairs: list[tuple[Claim, Claim]] = field(default_factory=list)

    @property
    def claims(self) -> list[Claim]:
        return [claim for pair in self.pairs for claim in pair]


class FormatError(ValueError):
    """A file that is not in the format; the message names file, line and what is wrong."""


def read(path: Path) -> list[Exchange]:
    """The chats of one file. Raises `FormatError`.

    `@ ID` opens a chat; `N | 2024-03-02 19:10 | Speaker | text` is a turn (an empty time is one minute after the
    turn before); `= kind | N,N | memory` is a memory that the chat supports; the line after it, `- label | N,N |
    memory`, its edited twin.
    """
    chats: list[Exchange] = []
    waiting: Claim | None = None
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = raw.strip()
        try:
            if not text or text.startswith("#"):
                continue
            if waiting is not None and not text.startswith("-"):
                raise FormatError("a `=` line must be followed by its `-` line")
            if text.startswith("@"):
                chats.append(Exchange(text[1:].strip()))
            elif text.startswith("="):
                waiting = _claim(text[1:], "supported", chats[-1])
            elif text.startswith("-"):
                if waiting is None:
                    raise FormatError("a `-` line without a `=` line before it")
                chats[-1].pairs.append((waiting, _claim(text[1:], waiting.kind, chats[-1], twin=True)))
                waiting = None
            else:
                chats[-1].turns.append(_turn(text, chats[-1].turns))
        except (FormatError, ValueError, IndexError) as error:
            raise FormatError(f"{path.name}:{number}: {error}: {text[:80]}") from error
    return chats


def _parts(text: str, count: int) -> list[str]:
    parts = [part.strip() for part in text.split("|", count - 1)]
    if len(parts) != count or not parts[-1]:
        raise FormatError(f"{count} fields separated by | are wanted")
    return parts


def _turn(text: str, before: list[Line]) -> Line:
    number, time, speaker, said = _parts(text, 4)
    if number != str(len(before) + 1):
        raise FormatError(f"turn {len(before) + 1} is wanted, not {number}")
    if time:
        stamp = datetime.strptime(time, "%Y-%m-%d %H:%M")
    else:
        stamp = datetime.fromisoformat(before[-1].time) + timedelta(minutes=1)
    return Line(f"t{number}", speaker, stamp.isoformat(), said)


def _claim(text: str, given: str, chat: Exchange, *, twin: bool = False) -> Claim:
    head, numbers, memory = _parts(text, 3)
    kind, label = (given, head) if twin else (head, given)
    if kind not in KINDS:
        raise FormatError(f"kind {kind!r} is none of {', '.join(KINDS)}")
    if label not in LABELS or (twin and label == "supported"):
        raise FormatError(f"label {label!r} is none of insufficient, contradicted")
    evidence = tuple(f"t{part.strip()}" for part in numbers.split(",") if part.strip())
    known = {turn.id for turn in chat.turns}
    if not set(evidence) <= known or (not twin and not evidence):
        raise FormatError(f"evidence {numbers!r} names no turn of {chat.id}")
    return Claim(memory, label, kind, evidence)


def exchanges(folder: Path = FOLDER) -> Iterator[Exchange]:
    """Every chat of every file, file names in order."""
    for path in sorted(folder.glob("*.txt")):
        yield from read(path)


def _cues(chats: list[Exchange]) -> Iterator[str]:
    """Words that stand in true memories and in twins at very different rates: they would give the label away."""
    counts = {True: Counter[str](), False: Counter[str]()}
    for chat in chats:
        for claim in chat.claims:
            counts[claim.label == "supported"].update(set(re.findall(r"[a-z']+", claim.text.lower())))
    for word in sorted(counts[True].keys() | counts[False].keys()):
        true, false = counts[True][word], counts[False][word]
        if true + false >= 12 and max(true, false) > 2.5 * (min(true, false) + 1):
            yield f"{word}: {true} in true memories, {false} in twins"


def main() -> None:
    """Check files; list their claims for a blind reader (`--blind`); compare the reader's answers (`--answers`)."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--blind", action="store_true", help="print chats and claims without labels, claims shuffled")
    parser.add_argument("--answers", type=Path, help="folder of a blind reader's answers: compare, list differences")
    parser.add_argument("--drop", action="store_true", help="take out the pairs that the reader judged otherwise")
    arguments = parser.parse_args()
    try:
        chats = [chat for path in arguments.files for chat in read(path)]
    except FormatError as error:
        sys.exit(str(error))
    if arguments.blind:
        for chat in chats:
            print(f"@ {chat.id}")
            for turn in chat.turns:
                print(f"{turn.id[1:]} | {turn.time[:16]} | {turn.speaker} | {turn.text}")
            for number, claim in blind(chat):
                print(f"? {number} | {claim.text}")
        return
    if arguments.answers is not None:
        for path in arguments.files:
            _compare(path, arguments.answers / path.name, drop=arguments.drop)
        return
    kinds = Counter(claim.kind for chat in chats for claim, _ in chat.pairs)
    labels = Counter(twin.label for chat in chats for _, twin in chat.pairs)
    words = [len(claim.text.split()) for chat in chats for claim in chat.claims]
    print(f"{len(chats)} chats, {len(words) // 2} pairs, {sum(words) / max(1, len(words)):.1f} words a memory")
    print("kinds:", dict(kinds.most_common()), "twins:", dict(labels))
    for cue in _cues(chats):
        print("cue:", cue)


def _compare(path: Path, answers: Path, *, drop: bool) -> None:
    """Print where the reader of `answers` (a line a chat: its id, a letter a claim) differs on supported or not."""
    given = dict(line.split() for line in answers.read_text(encoding="utf-8").splitlines() if line.strip())
    agreed, exact, total, doubted = 0, 0, 0, set[str]()
    for chat in read(path):
        letters = given[chat.id]
        if len(letters) != len(chat.claims):
            sys.exit(f"{answers.name}: {chat.id} has {len(letters)} answers for {len(chat.claims)} claims")
        for number, claim in blind(chat):
            label = next(name for name in LABELS if name[0] == letters[number - 1])
            total += 1
            exact += label == claim.label
            if (label == "supported") == (claim.label == "supported"):
                agreed += 1
            else:
                doubted.add(claim.text)
                print(f"{chat.id} {claim.kind}: {claim.label}, read as {label}: {claim.text}")
    print(f"{path.name}: {agreed} of {total} alike on supported or not, {exact} on all three labels")
    if drop and doubted:
        _drop(path, doubted)


def _drop(path: Path, doubted: set[str]) -> None:
    """Take the pairs out of `path` in which a doubted claim stands."""
    lines = path.read_text(encoding="utf-8").splitlines()
    out = set[int]()
    for place, text in enumerate(lines):
        if text[:1] in "=-" and text.rsplit("|", 1)[-1].strip() in doubted:
            out |= {place, place + 1} if text.startswith("=") else {place - 1, place}
    kept = [text for place, text in enumerate(lines) if place not in out]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def blind(chat: Exchange) -> list[tuple[int, Claim]]:
    """The chat's claims numbered in an order that depends on its id alone."""
    claims = chat.claims
    random.Random(chat.id).shuffle(claims)
    return list(enumerate(claims, start=1))


if __name__ == "__main__":
    main()
