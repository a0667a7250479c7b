"""Additive sharing of clients' vectors among two or more servers, and the material that lets servers check them."""

from ogive.crypto.tables.batch import ShareBatch
from ogive.crypto.tables.shape import ShareShape
from ogive.crypto.tables.sharing import amount_columns, one_hot_columns, share

__all__ = ["ShareBatch", "ShareShape", "amount_columns", "one_hot_columns", "share"]
