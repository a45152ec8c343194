"""Retrieval routes compared at equal recall, and what corrupted metadata does to them."""
