"""The library's messages in the words of the command line: its advice is Python, ours are options."""

from __future__ import annotations

import re

_PHRASES = (
    (r"bounds=\((\S+), (\S+)\)", r"--bounds \1 \2"),
    (r"limit=PureDP\((\S+)\)", r"--limit-epsilon \1"),
    (r"unit=PrivacyUnit\(Adjacency\.REPLACE\)", "--adjacency replace"),
    (r"privacy=PureDP\((\S+)\)", r"--epsilon \1"),
    (r"missing='(\w+)', '(\w+)' or '(\w+)'", r"--missing \1, \2 or \3"),
    (r"missing='(\w+)' or '(\w+)'", r"--missing \1 or \2"),
    (r"\b(missing|method|smooth|grid|outside|positive|negative)='(\w+)'", r"--\1 \2"),
    (r"\b(positive|negative|records)=(\d+)", r"--\1 \2"),
    (r"\bpositive= and negative=", "--positive and --negative"),
    (r"\bname='(\w+)'", r"--data-set \1"),
    (r"\bupdated=True", "--updated"),
    (r"(?<!['\w])max_rows_per_person=(\d+)", r"--max-rows-per-person \1"),
    (r"(?<!['\w])max_rows_per_person(?!['\w])", "--max-rows-per-person"),
    (r"\bAccount\.set_limit\b", "ogive ledger limit"),
    (r"adjacency ADD_OR_REMOVE", "--adjacency add_or_remove"),
    # not in quotes, where they are what the user wrote
    (r"(?<!['\w])ZeroConcentratedDP(?!['\w])", "--rho"),
    (r"(?<!['\w])ApproxDP(?!['\w])", "--epsilon with --delta"),
    (r"(?<!['\w])PureDP(?!['\w])", "--epsilon without --delta"),
)


def in_options(message: str) -> str:
    """Replace arguments in a message by the options that stand for them."""
    for phrase, options in _PHRASES:
        message = re.sub(phrase, options, message)
    return message
