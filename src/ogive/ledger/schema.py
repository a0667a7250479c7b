"""The ledger's tables. Exact numbers and structured values are text, so that every database keeps them as they are."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    select,
)

VERSION = 2
"""Raised whenever an older library could misread the tables. 2: keys are derived for each ledger."""

# Nothing is ever deleted: a spend whose noise may have been seen is spent, and the first one divides a limit's delta.

TABLES = MetaData()

META = Table(
    "ogive_meta",
    TABLES,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

META_OF = select(META.c.name, META.c.value).where(META.c.name.in_(bindparam("names", expanding=True)))
"""The rows `names` of META."""

DATA_SETS = Table(
    "ogive_data_sets",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("unit", Text, nullable=False),
    # JSON of a guarantee; null is no limit
    Column("spend_limit", Text),
    # JSON: part -> keyed fingerprint, "" for the whole
    Column("fingerprints", Text, nullable=False),
    Column("created", Text, nullable=False),
    sqlite_autoincrement=True,
)

SPENDS = Table(
    "ogive_spends",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("data_set", Integer, ForeignKey(DATA_SETS.c.id), nullable=False),
    # "" for the whole data set
    Column("part", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("statistic", Text, nullable=False),
    Column("question", Text, nullable=False),
    # at first, before any answer, and now
    Column("first_charge", Text, nullable=False),
    Column("charge", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("release_id", String(64), nullable=False, unique=True),
    # both are wiped when the estimate is recorded
    Column("secret", LargeBinary),
    Column("bound", Text),
    Column("estimate", Text),
    Column("started", Text, nullable=False),
    Column("finished", Text),
    UniqueConstraint("data_set", "part", "fingerprint", "digest"),
    sqlite_autoincrement=True,
)

# what is read of all spends of a data set where its totals are not valid, without their questions and estimates; rows
# of an index of PostgreSQL are limited to some 2,700 bytes, and charges may have thousands of digits
CHARGES = Index(
    "ogive_charges", SPENDS.c.data_set, SPENDS.c.part, SPENDS.c.first_charge, SPENDS.c.charge, SPENDS.c.release_id
).ddl_if(dialect="sqlite")
