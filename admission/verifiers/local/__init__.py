"""Verifiers over models that run in this process: causal language models and NLI classifiers, through transformers."""

from admission.verifiers.local.causal import CausalVerifier
from admission.verifiers.local.loading import LocalModel, load
from admission.verifiers.local.nli import NliVerifier

__all__ = ["CausalVerifier", "LocalModel", "NliVerifier", "load"]
