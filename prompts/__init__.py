"""Prompt templates as text files and their loader; imports nothing of ours."""
