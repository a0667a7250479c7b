"""Whether a message of the command line speaks Python."""

import re

import ogive

# an argument with a value, a name of several words, a class or function of ours, Python's own words, dots in brackets
PYTHON = re.compile(
    r"[a-z_]+=|\b[a-z]+_\w+|\b(None|True|False)\b|\bdf\b|\b[A-Z]+_[A-Z_]+\b|\.\.\.\)|\b("
    + "|".join(name for name in ogive.__all__ if not name.islower())
    + r")\b"
)
# users find their own words in quotes; the value of one option has underscores, and of another a sign of equality
NO_PYTHON = re.compile(r"'[^']*'|--adjacency add_or_remove|--categories \w+=\w")


def speaks_python(text):
    """Whether something is Python, outside quotes or set off with them."""
    assigned = re.search(r"[a-z_]+='", text) is not None
    return assigned or PYTHON.search(NO_PYTHON.sub("", text)) is not None
