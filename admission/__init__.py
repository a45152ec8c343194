"""The gate itself: evidence, obligations, verifiers, panel, deliberation, policy, ledger. No LangGraph here."""
