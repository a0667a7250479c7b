"""Tables of records, read column by column and turned into exact bin counts."""

from ogive.records.table import Records

__all__ = ["Records"]
