"""Reports for people and programs: text (rich), JSON lines, one HTML page a run, sentences, counts."""
