"""Two histories of plain sentences with questions on them, easy enough for a very small model."""

from __future__ import annotations

from admission.eviction.records import AuditData, History, LabelledQuestion, Memory, checked

_TOLD = {
    "ana": (
        ("The door code of the house is 4817.", "What is the door code of the house?", "4817"),
        ("Ana's dog is called Rufus.", "What is Ana's dog called?", "Rufus"),
        ("Breakfast begins at eight.", None, None),
        ("The spare key is under the blue pot.", "Where is the spare key?", "under the blue pot"),
        ("It rained the whole afternoon.", None, None),
        ("Ana's dentist is Doctor Marlow.", "Who is Ana's dentist?", "Marlow"),
        ("The bins are collected on Tuesday.", "On which day are the bins collected?", "Tuesday"),
        ("Ana is fond of old maps.", None, None),
    ),
    "ben": (
        ("Ben's boat is called Seagull.", "What is Ben's boat called?", "Seagull"),
        ("The wifi password is pineapple.", "What is the wifi password?", "pineapple"),
        ("The heating was repaired last week.", None, None),
        ("Ben's sister lives in Dublin.", "Where does Ben's sister live?", "Dublin"),
        ("Ben had soup for lunch.", None, None),
        ("Ben is allergic to peanuts.", "What is Ben allergic to?", "peanuts"),
        ("The garage opens at nine.", None, None),
        ("Ben's daughter plays the violin.", "Which instrument does Ben's daughter play?", "violin"),
    ),
}


def plain_histories() -> AuditData:
    """Sixteen memories, ten questions; each question needs one memory."""
    histories = tuple(
        History(id=who, memories=tuple(Memory(id=f"{who}/{n}", text=text) for n, (text, _, _) in enumerate(told)))
        for who, told in _TOLD.items()
    )
    questions = tuple(
        LabelledQuestion(id=f"{who}?{n}", history=who, text=question, gold=(f"{who}/{n}",), answer=answer)
        for who, told in _TOLD.items()
        for n, (_, question, answer) in enumerate(told)
        if question is not None
    )
    return checked(AuditData("plain", histories, questions, "Two histories of plain sentences."))
