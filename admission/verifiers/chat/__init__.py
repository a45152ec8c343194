"""Verifiers over chat models: requests, answers and their rounds without I/O, and the driver that sends them."""

from admission.verifiers.chat.verifier import ChatVerifier

__all__ = ["ChatVerifier"]
