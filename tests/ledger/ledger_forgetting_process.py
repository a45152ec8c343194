"""A program that forgets and reinstates memories of a ledger, one by one (run by test_known_metadata).

Argument: the ledger's URL. For each line "KEY STATE" it is given it makes the memory at that key be so, and prints the
line when the ledger's call has returned.
"""

from __future__ import annotations

import sys
from contextlib import closing

from ledger_records import SPACE

from admission.ledger import open_ledger
from admission.metadata import Lifecycle, RecordMetadata


def main() -> None:
    with closing(open_ledger(sys.argv[1])) as ledger:
        for line in sys.stdin:
            key, state = line.split()
            told = RecordMetadata(namespace=SPACE, lifecycle=Lifecycle.model_validate({"state": state}))
            ledger.annotate(SPACE, key, told, by="Ines", why="asked for it")
            sys.stdout.write(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
