"""The gate driven by batch files: requests for a provider's batch API out, its output files in (docs/batch.md)."""
