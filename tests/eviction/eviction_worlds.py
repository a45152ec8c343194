"""Small histories, scripted readers and judges for the tests of eviction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from admission.eviction.records import AuditData, History, LabelledQuestion, Memory
from admission.eviction.restore import ReadSetting, Subject
from admission.eviction.scoring import JudgeRequest, Mark, ReadRequest, Unmarked

FORCED = ReadSetting(condition="forced", ranker="bm25", k=2)
RANKED = ReadSetting(condition="ranked", ranker="bm25", k=2)


def memories(*texts: str) -> tuple[Memory, ...]:
    return tuple(Memory(id=f"m{place}", text=text) for place, text in enumerate(texts))


def word_count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


class FakeEncoder:
    """Unit vectors of words, each word an axis of its own."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        axes = {word: place for place, word in enumerate(sorted({w for text in texts for w in text.lower().split()}))}
        made = np.zeros((len(texts), max(1, len(axes))), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                made[row, axes[word]] += 1
        return made / np.maximum(1e-9, np.linalg.norm(made, axis=1, keepdims=True))


class FakeReader:
    """Answers with every text of the context, and keeps what it was asked."""

    name = "fake reader"

    def __init__(self) -> None:
        self.seen: list[ReadRequest] = []

    @property
    def identity(self) -> dict[str, object]:
        return {"fake": True}

    def answer(self, requests: Sequence[ReadRequest]) -> list[str | None]:
        self.seen.extend(requests)
        return [" | ".join(memory.text for memory in request.context) for request in requests]


class FakeJudge:
    """Right where the reference stands in the answer word for word, and keeps what it was asked."""

    name = "fake judge"

    def __init__(self) -> None:
        self.seen: list[JudgeRequest] = []

    @property
    def identity(self) -> dict[str, object]:
        return {"fake": True}

    def marks(self, requests: Sequence[JudgeRequest]) -> list[Mark | Unmarked]:
        self.seen.extend(requests)
        return ["right" if request.reference in request.answer else "wrong" for request in requests]


def subject(texts: Sequence[str], gold: Sequence[int], ranked: Sequence[int], answer: str | None = None) -> Subject:
    """One question over the memories m0, m1, ... of history h."""
    held = memories(*texts)
    return Subject(
        question=LabelledQuestion(
            id="q", history="h", text="what?", gold=tuple(f"m{place}" for place in gold), answer=answer
        ),
        memories=held,
        sizes=np.array(word_count(texts), dtype=np.int64),
        gold=tuple(sorted(gold)),
        ranked=np.array(ranked, dtype=np.intp),
    )


def keeping(count: int, *places: int) -> NDArray[np.bool_]:
    """(count,) of which these places are kept."""
    made = np.zeros(count, dtype=np.bool_)
    made[list(places)] = True
    return made


def small_data(histories: int = 3, size: int = 12) -> AuditData:
    """Histories of memories about numbered things; question n of each needs memories n and n + 1."""
    made, asked = [], []
    for place in range(histories):
        name = f"h{place}"
        texts = [f"{name} thing {n} is at place {n * 7 % 5} number {n}" for n in range(size)]
        made.append(
            History(id=name, memories=tuple(Memory(id=f"{name}/{n}", text=text) for n, text in enumerate(texts)))
        )
        for n in range(0, size - 1, 2):
            asked.append(
                LabelledQuestion(
                    id=f"{name}?{n}",
                    history=name,
                    text=f"where are thing {n} and number {n + 1}",
                    gold=(f"{name}/{n}", f"{name}/{n + 1}"),
                    answer=str(n),
                    kind="odd" if n % 4 else "even",
                )
            )
        asked.append(
            LabelledQuestion(id=f"{name}?never", history=name, text="never said", gold=(f"{name}/0",), answerable=False)
        )
    return AuditData("small", tuple(made), tuple(asked), "Three small histories.")


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Subject, NDArray[np.bool_], int]:
    """A question, what was kept of its history, and a depth."""
    size = draw(st.integers(1, 9))
    gold = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4, unique=True))
    ranked = draw(st.permutations(range(size)))
    texts = [" ".join(["word"] * draw(st.integers(1, 6))) + f" {place}" for place in range(size)]
    kept = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=np.bool_)
    return subject(texts, gold, ranked), kept, draw(st.integers(1, 6))
