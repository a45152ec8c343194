"""Data sets as histories of memories with labelled questions, known by their content."""
