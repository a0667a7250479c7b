"""Interfaces are looked at once for each type, and say what protocols of `typing` say."""

import sys
import types
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Protocol, runtime_checkable

import numpy as np
import pytest

import ogive
from ogive.core.checks import KeptByType, is_of_loaded
from ogive.queries import base as queries
from ogive.strategies import base as strategies


@runtime_checkable
class Plain(Protocol):
    size: int

    def area(self) -> float: ...


@runtime_checkable
class Kept(Plain, Protocol, metaclass=KeptByType):
    pass


@dataclass(frozen=True)
class Square:
    size: int

    def area(self):
        return float(self.size**2)


@dataclass(frozen=True)
class Derived(Kept):
    size: int = 2


@dataclass(frozen=True)
class WithoutArea:
    size: int


class Computed:
    asked = 0

    @property
    def size(self):
        type(self).asked += 1
        return 1

    def area(self):
        return 1.0


@dataclass(frozen=True)
class ComputedData(Computed):
    asked = 0


OBJECTS = [
    Square(1), Derived(), WithoutArea(1), Computed(), ComputedData(), SimpleNamespace(size=1, area=abs),
    SimpleNamespace(size=1), SimpleNamespace(size=1, area=None), "text", 1, None, Square, [], {"size": 1},
]  # fmt: skip


@pytest.mark.parametrize("each", OBJECTS, ids=[type(each).__name__ for each in OBJECTS])
def test_the_answer_is_that_of_the_protocol(each):
    for _ in range(3):
        assert isinstance(each, Kept) == isinstance(each, Plain)


def test_both_answers_occur():
    assert {isinstance(each, Kept) for each in OBJECTS} == {True, False}


def test_properties_of_a_dataclass_are_computed_once_and_of_others_each_time():
    ComputedData.asked = Computed.asked = 0
    for _ in range(5):
        assert isinstance(ComputedData(), Kept)
        assert isinstance(Computed(), Kept)
    assert ComputedData.asked <= 1
    assert Computed.asked == 5


def test_a_class_that_derives_from_an_interface_has_its_own_answers():
    assert isinstance(Derived(), Derived)
    assert not isinstance(Square(1), Derived)
    assert isinstance(Derived(), Kept)


def test_interfaces_in_hot_paths_are_kept():
    for each in (strategies.Strategy, strategies.Approximating, queries.CuratorQuery, queries.LinearQuery):
        assert type(each) is KeptByType


@pytest.mark.parametrize("module", ["pandas", "narwhals", "ibis.expr.types"])
def test_records_are_read_while_another_thread_imports_a_library(module, monkeypatch):
    """The module is there then, and what it defines is not."""
    monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    trust = ogive.Clear({"x": np.array([1.0, 2.0, 4.0]), "y": np.array([1, 2, 3])})
    assert ogive.release(ogive.Mean("x", bounds=(0, 10)), trust=trust).value == pytest.approx(7 / 3, abs=0.1)


def test_what_is_of_a_loaded_type():
    assert is_of_loaded(3, "builtins", "int")
    assert not is_of_loaded(3, "builtins", "str")
    assert not is_of_loaded(3, "builtins", "nothing")
    assert not is_of_loaded(3, "nothing", "int")
