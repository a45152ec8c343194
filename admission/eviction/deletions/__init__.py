"""What the deletions that a ledger records cost a set of labelled questions."""
