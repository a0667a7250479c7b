"""Notes on words for missing values, gathered over one command: one line for each table, not for each column."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

_LOGGER = "ogive.records.missing_words"


class _Gathered(logging.Handler):
    """Keeps what was said of each column."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str, str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the format of a note, and the words, the column and the table that it names."""
        self.said.append((str(record.msg), *cast("tuple[str, str, str]", record.args)))


@contextmanager
def gathered_notes() -> Iterator[None]:
    """Hold notes back, and say at the end which columns of each table had which words."""
    logger, notes = logging.getLogger(_LOGGER), _Gathered()
    propagated = logger.propagate
    logger.addHandler(notes)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(notes)
        logger.propagate = propagated
        columns: dict[tuple[str, str, str], list[str]] = {}
        for message, words, column, table in notes.said:
            columns.setdefault((message, words, table), []).append(column)
        for (message, words, table), names in columns.items():
            if len(names) > 1:
                message = message.replace("in column", "in columns")
            logger.warning(message, words, ", ".join(dict.fromkeys(names)), table)
