"""What trust models of one table share: who is protected, and how many records there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ogive.columns import Schema
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.progress import Progress
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.trust.base import TableModel


class SingleTable(TableModel):
    """A trust model of one table, whose rows are bounded per person.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column with the person's identifier, if a person may have several records. The guarantee is then for
            persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        row_choice: What rows are chosen by: "siphash", their contents, or "md5", the cells that they count in. By
            default the first one, and the second one for tables of an engine.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
    """

    def __init__(
        self,
        data: Any,
        *,
        person: str | None = None,
        max_rows_per_person: int = 1,
        row_choice: str | None = None,
        na_values: NaValues = (),
    ) -> None:
        self.options = self.options_type()
        self.records = Records.of(data, na_values=na_values).bounded(person, max_rows_per_person, row_choice)

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of this table, as it is."""
        return cls(data, person=person, max_rows_per_person=max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record, or one person where a person column was named."""
        kept = self.records
        return PrivacyUnit(adjacency, kept.person, kept.max_rows_per_person, row_choice=kept.row_choice)

    def count(self) -> int:
        """Records, after bounding."""
        return self.records.count()

    def data_digest(self) -> bytes:
        """SHA-256 of the records."""
        return self.records.digest()

    def schema(self) -> Schema:
        """What the columns of the table hold."""
        return self.records.schema()

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that the table lacks.

        Raises:
            DataError: one is not there; says which are.
        """
        self.records.check_columns(columns)
