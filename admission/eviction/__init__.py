"""Eviction: policies that choose what a memory budget keeps, and the audit that tells what that destroyed."""
