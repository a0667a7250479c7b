"""Who serves which queries: kinds of queries, and the words of refusals."""

import copy
import dataclasses
import importlib
import inspect
import pkgutil
import re

import pytest

import ogive
import ogive.queries
from ogive.errors import ParameterError
from ogive.queries import CuratorQuery, LinearQuery
from ogive.trust import TRUST_MODELS, Central, Clear, Local, Pairs, SecAgg, Servers
from ogive.trust.base import unserved


def query_types():
    """Every class of a query that has a price."""
    names = [each.name for each in pkgutil.iter_modules(ogive.queries.__path__, "ogive.queries.")]
    found = {each for name in names for _, each in inspect.getmembers(importlib.import_module(name), inspect.isclass)}
    return [each for each in found if dataclasses.is_dataclass(each) and hasattr(each, "price")]


def has(kind, protocol):
    """Whether a class has what a protocol demands besides being a query."""
    return all(hasattr(kind, name) for name in {*vars(protocol)} if not name.startswith("_"))


def test_every_query_has_the_kind_that_its_methods_say():
    kinds = {kind: kind.kind for kind in query_types()}
    assert len(kinds) == 23
    for query, kind in kinds.items():
        expected = "linear" if has(query, LinearQuery) else "curator" if has(query, CuratorQuery) else None
        assert kind == expected or (expected is None and kind in ("reports", "pairs")), query


def test_every_kind_of_query_is_served_by_somebody():
    served = {kind for model in TRUST_MODELS for kind in model.options_type.serves}
    assert served == {query.kind for query in query_types()}


class Asked:
    """As much of a query as refusals depend on."""

    def __init__(self, kind, method="path"):
        self.kind, self.method = kind, method


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        (Central, "reports", "use trust local, or a method without reports"),
        (Clear, "pairs", "use trust pairs, or another method"),
        (
            SecAgg,
            "curator",
            "secure aggregation computes only sums; use trust central",
        ),
        (
            Servers,
            "curator",
            "servers compute only sums of shares; use trust central",
        ),
        (Servers, "reports", "use trust local, or a method without reports"),
        (
            Local,
            "linear",
            "sparse needs somebody who sees records, .*; use trust central, or what",
        ),
        (Local, "pairs", "use trust pairs, or another method"),
        (
            Pairs,
            "linear",
            "sparse is nothing that two people compute .*; pairs .*ustatistic alone",
        ),
        (
            Pairs,
            "reports",
            "sparse is nothing that two people compute .*; pairs .*ustatistic alone",
        ),
    ],
)
def test_what_is_not_served_is_refused_with_what_would_work(model, kind, words):
    options = model.options_type
    said = unserved(Asked(kind, "sparse"), options.serves, limits=options.limits, instead=options.instead)
    assert re.search(words, said)
    for served in options.serves:
        assert unserved(Asked(served), options.serves, limits=options.limits) is None


@pytest.mark.parametrize(
    ("statistic", "trust", "subject"),
    [
        (ogive.Roc("score", "label", bounds=(0, 1)), "local", "roc"),
        (ogive.Ecdf("score", (0, 1), method="path"), "local", "path"),
        (ogive.Ecdf("score", (0, 1)), "pairs", "ecdf"),
        (ogive.Quantiles("score", bounds=(0, 1), method="bisection"), "local", "bisection"),
        (ogive.Boxplot("score", (0, 1), method="five_numbers"), "local", "five_numbers"),
        (ogive.Bounds("score"), "local", "bounds"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_refusal_begins_with_what_was_asked_for(statistic, trust, subject):
    table = {"score": [0.1, 0.7, 0.4], "label": [0, 1, 1]}
    model = ogive.Simulation(trust).over(table)
    with pytest.raises(ogive.UnsupportedError, match=rf"^{subject} (needs somebody|is nothing that two people)"):
        ogive.release(statistic, privacy=ogive.PureDP(1), trust=model)


@pytest.mark.parametrize("model", [SecAgg, Servers, Local, Pairs])
def test_values_that_nobody_has_listed_are_found_by_a_curator_alone(model):
    asked = Asked("curator", "discovery")
    reason = unserved(asked, model.options_type.serves, limits=model.options_type.limits)
    assert re.search("only by a curator .*; name the values, or use trust central", reason)


@pytest.mark.parametrize("wrong", ["ecdf", None, ogive.Ecdf], ids=repr)
def test_what_is_no_statistic_is_refused(wrong):
    with pytest.raises(ogive.ParameterError, match="statistic must be one such as Ecdf"):
        ogive.release(wrong, privacy=ogive.PureDP(1), trust=ogive.Central({"score": [1]}))


def test_a_name_has_no_records():
    with pytest.raises(ogive.ParameterError, match="not the name of one; got 'local'"):
        ogive.release(ogive.Ecdf("score", (0, 1)), privacy=ogive.PureDP(1), trust="local")


@pytest.mark.parametrize("model", [*TRUST_MODELS, ogive.Collected], ids=lambda model: model.__name__)
def test_a_trust_model_without_records_says_what_to_pass(model):
    with pytest.raises(ParameterError) as caught:
        model()
    said, name = str(caught.value), model.__name__
    assert said.startswith(f"{name} needs ")
    assert f"as in ogive.{name}(" in said
    assert "\n" not in said
    assert caught.value.parameter == next(iter(inspect.signature(model).parameters))
    with pytest.raises(ParameterError, match=f"{name} needs "):
        model(person="who")
    with pytest.raises(TypeError, match="unexpected keyword"):
        model({"age": [1]}, nothing=1)


def test_a_trust_model_that_is_called_as_an_option_is_told_to_name_its_type():
    with pytest.raises(ParameterError, match=r"needs records: .* name the type alone, trust=ogive\.Local$"):
        ogive.Session({"age": [1, 2]}, limit=ogive.PureDP(1), trust=ogive.Local())


def test_a_trust_model_still_says_what_it_takes_and_can_be_copied():
    assert list(inspect.signature(Central).parameters) == [
        "data",
        "person",
        "max_rows_per_person",
        "row_choice",
        "na_values",
    ]
    model = Central(data={"age": [1, 2]})
    assert copy.copy(model).count() == 2
