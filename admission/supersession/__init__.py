"""Supersession: does a new memory take the place of an older one of the same subject and attribute? Pure, no I/O."""

from admission.supersession.finding import (
    Known,
    New,
    Replacement,
    can_supersede,
    conflicting,
    may_supersede,
    replacements,
    the_user,
)

__all__ = [
    "Known",
    "New",
    "Replacement",
    "can_supersede",
    "conflicting",
    "may_supersede",
    "replacements",
    "the_user",
]
