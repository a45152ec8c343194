"""The measurements of `admission eval`: a command a file, and beside it how its figures are shown."""
