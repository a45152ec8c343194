"""Memories that are requests to forget: which are, and what of them may be shown."""

from __future__ import annotations

import pytest

from admission.reading.stored_requests import named_in_request, shown_request, stored_requests


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ana asked to forget her battery habits.", "Ana asked to forget her battery habits."),
        ("Ana asked to forget her locker code LK-4471.", "Ana asked to forget her locker code [forgotten]."),
        ("Ana Lopez asked that 030-555-0142 be deleted.", "Ana Lopez asked that [forgotten] be deleted."),
        (
            "Ana wants the Swan Inn contact removed from memory.",
            "Ana wants the [forgotten] contact removed from memory.",
        ),
        ("Ana requested the deletion of the alias Mira.", "Ana requested the deletion of the alias [forgotten]."),
        ("Ana asked the assistant not to store her PIN 4471.", "Ana asked the assistant not to store her [forgotten]."),
        ("Ana asked to forget that she sleeps badly.", "Ana asked to forget that [forgotten]"),
        ("Ana asked to forget her brother Ben.", "Ana asked to forget her brother [forgotten]."),
        (
            "The user asked the assistant to delete code LK-4471.",
            "The user asked the assistant to delete code [forgotten].",
        ),
        ("Please forget my number 030-555-0142.", "Please forget my number [forgotten]."),
    ],
)
def test_a_request_is_shown_without_what_it_names_or_tells(text: str, shown: str) -> None:
    assert stored_requests(text)
    assert shown_request(text, named_in_request(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Ana likes tea.",
        "Ana forgot her umbrella.",
        "Ana wants her tattoo removed.",
        "Ana wants to forget her ex.",
        "Ana asked to delete her account.",
        "Ana asked Ben to forget the argument.",
        "Ana's boss told her to delete the file DX-4471.",
        "The invoices must be deleted by Friday.",
        "Ana asked to delete her code LK-4471 after the trip.",
        "Ana's number LK-4471 was deleted.",
        "Ana asked not to forget LK-4471.",
        "Ana asked to delete LK-4471 and keep LK-9000.",
        "Ana asked to forget her diet: no nuts.",
        "Ana asked to forget LK-4471 because she lost it.",
        "Ana asked to forget LK-4471. She lives in Porto.",
        "Ana asked to forget LK-4471 (her locker at the gym).",
    ],
)
def test_whatever_else_a_memory_says_makes_it_no_request(text: str) -> None:
    assert stored_requests(text) == ()


def test_one_marked_by_hand_is_shown_with_care_too() -> None:
    text = "Note for later: LK-4471 is to go, says Mira Beck (gym)."
    assert not any(part in shown_request(text, named_in_request(text)) for part in ("4471", "Mira", "Beck", "gym"))
