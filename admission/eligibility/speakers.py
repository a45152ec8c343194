"""Who may speak for whom: users for their own minds, an assistant for itself, nobody for an order to the judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from admission.eligibility.mentions import only_mentions
from admission.eligibility.orders import poses
from admission.eligibility.retractions import taken_back
from admission.eligibility.spans import NEVER_EVIDENCE
from admission.eligibility.subjects import attributed_to_assistant, claim_about
from admission.eligibility.testimony import only_claims
from admission.records import Passage
from admission.replies import only_asks
from admission.text import normalise, words

if TYPE_CHECKING:
    from admission.history import History

_FIRST_PERSON = frozenset(("i", "i'm", "i've", "i'd", "i'll", "my", "mine", "myself"))
_FOR_A_USER = frozenset(("user", "users", "customer", "client", "account", "you", "your", "he", "she", "they", "guest"))


def _speaks_of_nobody_known(text: str, users: Sequence[str]) -> bool:
    """Is a text in the first person without a word for a user? In what a tool brings, "I" may be anybody."""
    tokens = [word.lower().removesuffix("'s") for word in words(normalise(text))]
    named = {word.lower() for user in users for word in words(user)}
    return not _FIRST_PERSON.isdisjoint(tokens) and named.union(_FOR_A_USER).isdisjoint(tokens)


def stands_alone(passage: Passage, obligation: str, history: History) -> bool:
    """May this passage count as evidence for the obligation without any other beside it? See `may_support`."""
    if passage.origin in NEVER_EVIDENCE:
        return False
    if taken_back(passage, obligation, history):
        return False
    if only_mentions(passage, obligation, history) or only_claims(passage, obligation, history):
        return False
    if passage.role == "user" and passage.origin == "conversation":
        return True
    if passage.role != "assistant" or passage.origin != "conversation":
        about = claim_about(obligation, history.user_names)
        return about != "inner" and not (about == "own" and _speaks_of_nobody_known(passage.text, history.user_names))
    if attributed_to_assistant(obligation, history.participants.get("assistant", ())):
        return True
    return not only_asks(passage.text) and claim_about(obligation, history.user_names) in ("arrangement", "other")


def may_support(passage: Passage, obligation: str, history: History) -> bool:
    """May this passage count as evidence for this obligation?

    Nothing that was taken back or is disputed (`taken_back`). What a user says: always else, but for what is only
    mentioned in it or is nobody's testimony (`only_claims`). Tool and
    external text: not for what a user wants, likes, plans, decides, feels or authorises, nor for what else is about a
    user where it only says "I" or tells it in a sentence instead of keeping it as data. An assistant's
    turn: for what the obligation attributes to the assistant, for what a user may, must, is given or was charged, and
    for what is not about a user; a question states nothing by itself. And for anything that a user confirmed or
    answered directly after: then the two count together only (`admissible`).
    """
    if stands_alone(passage, obligation, history):
        return True
    if passage.role != "assistant" or passage.origin != "conversation":
        return False
    answered = passage.confirmed_by is not None or history.answer_to(passage.turn_id) is not None
    return answered and not taken_back(passage, obligation, history)


def admissible(passages: Sequence[Passage], obligation: str, history: History) -> tuple[Passage, ...]:
    """Those of `passages` that may count as evidence for the obligation when shown together, in their order.

    As `may_support`, but an assistant's turn that counts only with the user's answer counts only beside that answer.
    None for an obligation that is itself an order to the judge or poses as a verdict.
    """
    if poses(obligation):
        return ()
    shown = {passage.turn_id for passage in passages}
    return tuple(
        passage
        for passage in passages
        if stands_alone(passage, obligation, history)
        or (may_support(passage, obligation, history) and history.answer_to(passage.turn_id) in shown)
    )
