"""What two texts have to have in common, and what the conversation has to say, before one takes the other's place."""

from __future__ import annotations

import pytest
from labelled_pairs import Pair, admitted, judged, turn

from admission.history import History
from admission.supersession import Known, New, conflicting, replacements


def found(old: str, new: str, said: str, speaker: str | None = "Ana") -> bool:
    return judged(Pair("x", "x", speaker, old, new, said, False)) is not None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Ana lives in Boston.", "Ana works in Boston.", "I moved, I work in Boston now."),
        ("Ana likes tea.", "Ana likes coffee.", "I changed, I like coffee now instead of water."),
        ("Ana has a dog called Rex.", "Ana has a dog called Bella.", "My new dog is called Bella now."),
        ("Ana was in Rome in May.", "Ana was in Paris in June.", "I was in Paris in June, no longer in Rome."),
        ("Ana bought a car.", "Ana sold a car.", "I sold a car."),
    ],
)
def test_texts_that_are_alike_and_can_both_hold_never_conflict(old: str, new: str, said: str) -> None:
    assert conflicting(new, [("old", old)], frozenset(("Ana",))) == []
    assert not found(old, new, said)


def test_what_the_conversation_says_is_so_is_not_yet_a_change() -> None:
    assert not found("Ana's favourite band is Muse.", "Ana's favourite band is Blur.", "My favourite band is Blur.")
    assert found("Ana's favourite band is Muse.", "Ana's favourite band is Blur.", "My favourite band is Blur now.")


@pytest.mark.parametrize(
    "said",
    [
        "Is it so that I no longer drink coffee?",
        "I think I no longer drink coffee.",
        "I no longer drink coffee for two weeks.",
        "Back then, as a student, I no longer drank coffee.",
        "I no longer drink coffee, only half a cup.",
    ],
)
def test_a_change_that_is_asked_doubted_bounded_past_or_half_is_none(said: str) -> None:
    assert found("Ana drinks coffee.", "Ana no longer drinks coffee.", "I no longer drink coffee.")
    assert not found("Ana drinks coffee.", "Ana no longer drinks coffee.", said)


def test_a_denial_of_less_leaves_more_standing_and_a_denial_of_more_ends_less() -> None:
    said = "I no longer drink coffee after lunch."
    assert not found("Ana drinks coffee.", "Ana no longer drinks coffee after lunch.", said)
    assert found("Ana drinks coffee at breakfast.", "Ana no longer drinks coffee.", "I no longer drink coffee.")


def test_a_memory_that_says_more_than_one_thing_is_not_lost_over_one_of_them() -> None:
    said = "I no longer drink coffee."
    assert not found("Ana drinks coffee and tea.", "Ana no longer drinks coffee.", said)
    assert not found("Ana drinks coffee. Ana lives in Boston.", "Ana no longer drinks coffee.", said)


@pytest.mark.parametrize("said", ["Carla no longer drinks coffee.", "She no longer drinks coffee."])
def test_what_is_said_of_somebody_else_ends_nothing_of_the_user(said: str) -> None:
    assert not found("Ana drinks coffee.", "Ana no longer drinks coffee.", said)


def test_a_pronoun_stands_for_nobody_known() -> None:
    assert not found("She drinks coffee.", "She no longer drinks coffee.", "She no longer drinks coffee.")


def test_the_user_is_known_by_the_name_of_the_only_one() -> None:
    assert found("The user drinks coffee.", "Ana no longer drinks coffee.", "I no longer drink coffee.")
    assert not found("The user drinks coffee.", "Ana no longer drinks coffee.", "I no longer drink coffee.", "Ben")


def test_of_two_users_each_keeps_what_is_known_of_them() -> None:
    old, new = "Ben drinks coffee.", "Ana no longer drinks coffee."
    talk = [turn("t1", "I drink coffee.", "Ben"), turn("t2", "I no longer drink coffee.", "Ana")]
    history = History.of("talk", talk)
    known = Known(key="old", text=old, report=admitted(old, talk[0], history))
    assert replacements(New(key="new", text=new, report=admitted(new, talk[1], history)), [known], history) == []


OLD, NEW, SAID = "Ana drinks coffee.", "Ana no longer drinks coffee.", "I no longer drink coffee."


@pytest.mark.parametrize(
    ("before", "after", "last", "expected"),
    [
        ("2026-03-01T10:00:00+00:00", "2026-05-01T10:00:00+00:00", True, True),
        ("2026-05-01T10:00:00+00:00", "2026-03-01T10:00:00+00:00", True, False),
        ("2026-03-01T10:00:00+00:00", "2026-05-01T10:00:00+00:00", False, True),
        ("2026-03-01T10:00:00+02:00", "2026-03-01T09:00:00+00:00", True, True),
        (None, None, True, True),
        (None, None, False, False),
    ],
)
def test_across_conversations_the_change_is_the_later_word(
    before: str | None, after: str | None, last: bool, expected: bool
) -> None:
    first = History.of("january", [turn("a1", "I drink coffee.", "Ana", before)])
    talk = [turn("b1", SAID, "Ana", after), *([] if last else [turn("b2", "And it rains.", "Ana", after)])]
    second = History.of("may", talk)
    known = Known(key="old", text=OLD, report=admitted(OLD, next(iter(first)), first))
    new = New(key="new", text=NEW, report=admitted(NEW, talk[0], second))
    assert bool(replacements(new, [known], second)) is expected


def test_in_one_conversation_the_order_of_turns_counts() -> None:
    talk = [turn("t1", SAID, "Ana"), turn("t2", "I drink coffee.", "Ana")]
    history = History.of("talk", talk)
    known = Known(key="old", text=OLD, report=admitted(OLD, talk[1], history))
    assert replacements(New(key="new", text=NEW, report=admitted(NEW, talk[0], history)), [known], history) == []


@pytest.mark.parametrize(("status", "action"), [("admitted", "persist_marked"), ("unresolved", "persist")])
def test_what_was_not_admitted_for_good_replaces_nothing(status: str, action: str) -> None:
    talk = [turn("t1", "I drink coffee.", "Ana"), turn("t2", SAID, "Ana")]
    history = History.of("talk", talk)
    known = Known(key="old", text=OLD, report=admitted(OLD, talk[0], history))
    report = admitted(NEW, talk[1], history).model_copy(update={"status": status, "action": action})
    assert replacements(New(key="new", text=NEW, report=report), [known], history) == []


def test_no_text_is_too_odd_to_be_read() -> None:
    odd = [
        "",
        ".",
        "\u202e\u0000",
        "a" * 5000,
        "no longer",
        "Ana is",
        "Ana no longer",
        "12 12 12",
        "喜欢 茶。",
        "; ; ;",
    ]
    assert conflicting(NEW, [(str(n), text) for n, text in enumerate(odd)], frozenset()) == []
    for text in odd:
        assert conflicting(text, [("old", OLD)], frozenset()) == []
