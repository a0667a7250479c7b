"""A table of an engine: its columns, its fingerprint, and what it answers."""

from __future__ import annotations

import hashlib
import json
import weakref
from functools import cached_property
from typing import Any

import pyarrow as pa

from ogive.columns.predicates import Predicate
from ogive.core.arrays import Int64
from ogive.queries import Aggregate, PersonShares
from ogive.records.engines.connections import address_of, answer, engine_of, is_locked, one_line, open_address
from ogive.records.missing_words import MissingWords
from ogive.records.parts import check_condition
from ogive.records.sources import Table


class EngineTable(Table):
    """One table of an engine. Its rows stay there: it counts them and sends cells."""

    numbers_hint = "cast the column to numbers in a view of the table"

    def __init__(
        self, expression: Any, name: str, *, whole: EngineTable | None = None, is_locked: bool = False
    ) -> None:
        self.name = name
        self._is_locked = is_locked
        self._locked: bytes | None = None
        self._expression = expression
        self.columns = tuple(expression.columns)
        self._whole = whole  # kept, since the connection ends with it
        self._engine: str = engine_of(expression) if whole is None else whole._engine

    @staticmethod
    def of(data: Any) -> EngineTable:
        """The table of an address or of an expression of ibis."""
        if not isinstance(data, str):
            return EngineTable(data, "the table")
        address = address_of(data)
        expression = open_address(address)
        table = EngineTable(expression, address.name, is_locked=is_locked(address, expression))
        if address.engine != "spark":  # of which a process has one, for all its tables
            weakref.finalize(table, expression.get_backend().disconnect)
        return table

    @cached_property
    def _types(self) -> dict[str, Any]:
        return {column: self._arrow_type(kind) for column, kind in self._expression.schema().items()}

    def _arrow_type(self, kind: Any) -> Any:
        """An engine's type as Arrow has it; one that Arrow lacks by its name."""
        try:
            return kind.to_pyarrow()
        except (TypeError, KeyError, NotImplementedError, ModuleNotFoundError):
            return pa.opaque(pa.null(), str(kind), self._engine)

    def type(self, column: str) -> Any:
        return self._types[column]

    def rows(self) -> int:
        with one_line(self.name):
            counted = answer(self._expression.aggregate(rows=self._expression.count()))
            return int(counted["rows"][0].as_py())

    def is_empty(self) -> bool:
        """Whether there is no row at all; of rows that satisfy a condition, whether the whole table has none."""
        if self._whole is not None:
            return self._whole.is_empty()
        with one_line(self.name):
            return not len(answer(self._expression.select(found=0).limit(1)))

    def digest(self) -> bytes:
        """SHA-256 of the whole table's columns and types, of how many rows it has, and of a sum of their hashes.

        The engine hashes every row with 64 bits of its own and adds them up, in one pass, so the digest does not depend
        on the order of rows. A change by accident is missed in one case of 2^64. Whoever writes to the table may find
        another one of the same digest: it is not a commitment to the rows.
        """
        if self._whole is not None:
            return self._whole.digest()
        if self._locked is not None:
            return self._locked
        from ogive.records.engines.cells import fingerprint

        with one_line(self.name):
            counted = fingerprint(self._expression, self._engine)
        kinds = [[column, str(kind)] for column, kind in self._expression.schema().items()]
        text = json.dumps([self._engine, kinds, *counted]).encode()
        result = hashlib.sha256(b"ogive engine table 1\n" + text).digest()
        if self._is_locked:
            self._locked = result
        return result

    def filtered(self, where: Predicate, words: MissingWords) -> EngineTable:
        from ogive.records.engines.choosing import holds

        check_condition(where, self, words)
        with one_line(self.name):
            chosen = self._expression.filter(holds(where, self._expression, self._types, words, self._engine))
        return EngineTable(chosen, self.name, whole=self)

    def persons(self, person: str, words: MissingWords) -> int:
        from ogive.records.engines.choosing import is_named, of_group, person_groups, person_names, refuse

        kind = self._types[person]
        results = []
        with one_line(self.name):
            groups = person_groups(self._expression, self._engine)
            for group in range(groups):
                table = self._with_persons(person, words)
                if groups > 1:
                    table = of_group(table, person, kind, self._engine, group=group, groups=groups)
                named = table.select(**person_names(table[person], kind, self._engine))
                results.append(_persons(named.filter(is_named(named))))  # others are refused where they are used
        refuse(max(fault for _, fault in results), person)
        return sum(persons for persons, _ in results)

    def aggregate(
        self, aggregate: Aggregate, words: MissingWords, *, person: str | None = None, limit: int = 1
    ) -> Int64:
        from ogive.records.engines.cells import CellReader

        bound = None
        if person is not None:
            from ogive.records.engines.choosing import Bound

            most = None if isinstance(aggregate, PersonShares) else limit
            bound = Bound(person, most, self._types[person], self._engine)
        with one_line(self.name):
            table = self._expression if person is None else self._with_persons(person, words)
            return CellReader(table, self._types, words, self.name, bound, self._engine).sums(aggregate)

    def _with_persons(self, person: str, words: MissingWords) -> Any:
        """The table, in which a person is null where a named word or number says that it is missing."""
        from ogive.records.engines.choosing import without_named

        column = self._expression[person]
        named = without_named(column, self._types[person], words, self._engine)
        return self._expression if named is column else self._expression.mutate(**{person: named})


def _persons(named: Any) -> tuple[int, int]:
    """How many persons a table of their names has, and their worst fault."""
    each = named.group_by(list(named.columns)).aggregate(rows=named.count())
    result = answer(each.aggregate(persons=each.count(), fault=each["person_fault"].max())).to_pylist()[0]
    return int(result["persons"]), int(result["fault"] or 0)
