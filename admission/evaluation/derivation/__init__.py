"""The derivation audit: what a gate keeps and lets in, measured on recorded writes (method: DerivAudit)."""
