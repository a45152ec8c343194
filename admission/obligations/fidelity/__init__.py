"""Whether obligations that somebody proposes together say what a memory says, and none of them more; by rule."""

from admission.obligations.fidelity.check import objections, strictly_typed, uncheckable

__all__ = ["objections", "strictly_typed", "uncheckable"]
