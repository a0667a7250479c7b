"""A statistic's options are declared once, by its dataclass; functions and verbs show all of them."""

import dataclasses
import importlib.util
import inspect
import re
import subprocess
import sys
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import ogive
from ogive.cli.forms import form_of
from ogive.cli.options import HolderOptions, declared, option_of
from ogive.cli.release import command
from ogive.columns import MISSING_POLICIES
from ogive.columns.grids import GRIDS
from ogive.core.checks import choices_of, entries, is_python_only, one_of, python_only
from ogive.statistics.kinds import CALLED
from ogive.statistics.methods.choose import CURVE_METHODS, METHODS, UNBIASED_METHODS
from ogive.statistics.ustatistic.statistic import METHODS as OF_PAIRS
from ogive.strategies.smoothing import SMOOTHINGS
from ogive.trust.models import MODELS, model_named, options_named

OWN = {"privacy", "adjacency", "trust", "batch", "source", "na_values", "labels", "where"}
GROUPS = {"by", "groups", "by_groups"}
"""Of verbs whose statistic has no groups of its own."""


@pytest.mark.parametrize("verb", [False, True])
@pytest.mark.parametrize("kind", CALLED.values(), ids=lambda kind: kind.name)
def test_functions_and_verbs_have_every_option_with_its_default_and_its_documentation(kind, verb):
    call = getattr(ogive.Session if verb else ogive, kind.function)
    parameters = inspect.signature(call).parameters
    options = set(kind.options)
    if kind.name == "boxplot" and not verb:
        options -= {"by", "groups"}
    shown = {name for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    assert shown - OWN - (GROUPS - options if verb else set()) == options
    defaults = {field.name: field.default for field in dataclasses.fields(kind.statistic)}
    assert all(parameters[name].default == defaults[name] for name in options)
    documented = {name for names, _ in entries(inspect.getdoc(call), "Args") for name in names}
    assert documented == set(parameters) - {"self"}
    with pytest.raises(TypeError, match=rf"{kind.function}\(\) got an unexpected keyword argument 'no_such'"):
        call(None, no_such=1)


GOOD = """
import ogive
curve = ogive.ecdf([1.0, 2.0], bounds=(0, 3), bins=8, privacy=ogive.PureDP(1), trust="central", method="tree_ls")
share: float = curve(1.5)
session = ogive.Session({"age": [1, 2]}, limit=ogive.PureDP(1))
roc: ogive.RocEstimate = session.roc("s", "y", bounds=(0, 1), positive=("a", 1), public_labels=None)
found: ogive.QuantileEstimates = ogive.quantiles([1], (0.5,), bounds=(0, 3), confidence_level=0.9)
merged: ogive.Curve = ogive.merge(curve, ogive.Curve.from_json("{}"))
"""
BAD = """
import ogive
ogive.ecdf([1.0], bins="many")
ogive.roc([1.0], [1], binz=3)
ogive.Session({}).quantiles("age", bounds=3)
ogive.ecdf([1.0], bounds=(0, 3), method="tree")
ogive.roc([1.0], [1], bounds=(0, 1), budget="joined")
ogive.Session({}).boxplot("age", bounds=(0, 3), method="five", grid="log")
"""


@pytest.mark.everything
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_a_users_script_is_checked_as_strictly_as_before(tmp_path):
    for name, text in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    checked = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "good.py", "bad.py"]
    done = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.partition(": error: ")[0] for line in lines] == [f"bad.py:{line}" for line in (3, 4, 5, 6, 7, 8, 8)], (
        done.stdout
    )
    assert "binz" in lines[1]


# --- the command line ---

USES = {"release": {}, "plan": {"names": False}, "describe": {"owners": True}}


def options(kind, use):
    """The options of a command, by the fields of the statistic, or by the groups that come with them."""
    made = inspect.signature(command(kind, lambda parsed: None, **use)).parameters
    return {name: each for name, each in made.items() if not hasattr(each.annotation, "given")}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", CALLED.values(), ids=lambda kind: kind.name)
def test_commands_have_every_field_as_an_option_with_help(kind, use):
    fields = {field.name: field for field in dataclasses.fields(kind.statistic)}
    told = kind.command_options
    if use == "describe" and told.owners is None:
        pytest.skip("owners are not asked")
    left_out = {name for name, left in (told.owners or {}).items() if not left} if use == "describe" else set()
    left_out |= {name for name, field in fields.items() if is_python_only(field)}
    found = options(kind, USES[use])
    assert set(found) == set(fields) - left_out
    for name, each in found.items():
        parameter = each.annotation.__metadata__[0]
        assert parameter.name == (f"--{told.names.get(name, name).replace('_', '-')}",)
        assert len(parameter.help) > 10, name
        assert not re.search(r"[`\"]|\bNone\b|\bGrid\b|PureDP|\w\(", parameter.help), parameter.help
        if fields[name].default is dataclasses.MISSING:
            continue
        assert each.default in (None, ()), "what is not said is left to the statistic"


def test_a_command_says_nothing_of_fields_that_there_are_not():
    for kind in CALLED.values():
        told, fields = kind.command_options, {field.name for field in dataclasses.fields(kind.statistic)}
        for names in (told.names, told.negative, told.help, told.owner_help, told.groups, told.owners or {}):
            assert set(names) <= fields


@pytest.mark.parametrize("method", [ogive.HierarchyAuc, ogive.Paired], ids=lambda method: method.name)
def test_every_field_of_a_method_of_pairs_is_an_option_with_help(method):
    made = inspect.signature(command(CALLED["ustatistic"], lambda parsed: None)).parameters.values()
    [group] = [each.annotation for each in made if method.name in getattr(each.annotation, "owners", {}).values()]
    fields = {field.name: field for field in dataclasses.fields(method)}
    assert set(group.__annotations__) == set(fields) == set(group.owners)
    for name, annotation in group.__annotations__.items():
        parameter = annotation.__metadata__[0]
        assert parameter.name == (f"--{name}",)
        assert not re.search(r"[`\"]|\bNone\b|\w\(", parameter.help), parameter.help
        assert parameter.show_default == (fields[name].default is not None and str(fields[name].default))
    assert group().given() == {}, "what is not said is left to the method"


def test_a_type_without_a_form_is_refused():
    """The control."""

    @dataclasses.dataclass(frozen=True)
    class Question:
        turn: "complex" = 1j
        side: "Side" = one_of("left", "right")  # noqa: F821 (a word, whatever its type is called)

    turn, side = dataclasses.fields(Question)
    with pytest.raises(TypeError, match="no form says how words become complex"):
        form_of(turn)
    assert form_of(side).type_of("left") == str | None


def literals(hint):
    """All words of the literals in a type."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for part in get_args(hint) for word in literals(part)}


DECLARED = [kind.statistic for kind in CALLED.values()] + [ogive.HierarchyAuc, ogive.Paired]


@pytest.mark.parametrize("statistic", DECLARED, ids=lambda each: each.__name__)
def test_every_option_with_choices_is_a_literal_of_the_same_choices(statistic):
    hints = get_type_hints(statistic)
    for field in dataclasses.fields(statistic):
        words = set(choices_of(field))
        if field.name == "missing" and field.type == "Missing":
            # also a public value, and not every statistic can drop a record
            assert words <= literals(hints["missing"]) == set(MISSING_POLICIES)
        elif words:
            assert get_origin(hints[field.name]) is Literal, (field.name, field.type)
            assert literals(hints[field.name]) == words
        else:
            assert hints[field.name] is not str or field.default is dataclasses.MISSING, (
                f"{field.name} is any text: declare it a Literal if only some words are meant"
            )


def test_options_of_methods_grids_and_smoothings_are_literals_of_what_is_accepted():
    by_name = {kind.name: get_type_hints(kind.statistic) for kind in CALLED.values()}
    unbiased, smooth = {"auto", *UNBIASED_METHODS}, {"auto", *SMOOTHINGS}
    for name, field, words in (
        ("ecdf", "method", {"auto", *METHODS}),
        ("ecdf", "smooth", smooth),
        ("quantiles", "method", {"auto", "bisection", "exponential", "joint", "counted", *METHODS}),
        ("boxplot", "curve", {"auto", *METHODS}),
        ("roc", "method", unbiased),
        ("roc", "smooth", smooth),
        ("calibration", "method", unbiased),
        ("calibration", "df", {"fitted"}),
        ("ustatistic", "method", {"auto", *OF_PAIRS}),
    ):
        assert literals(by_name[name][field]) == words, (name, field)
    for name in ("ecdf", "quantiles", "boxplot", "roc"):
        assert literals(by_name[name]["grid"]) == set(GRIDS)
    assert (*UNBIASED_METHODS, *CURVE_METHODS) == METHODS


def test_fields_with_words_take_these_and_no_others():
    columns = {
        "bounds": {},
        "describe": {"columns": ("a",), "bounds": {"a": (0, 1)}},
        "histogram": {"values": ("a", "b")},
        "group_auc": {
            **dict(zip(("score", "label", "group"), "abc", strict=True)),
            "group_values": ("a", "b"),
            "bounds": (0, 1),
        },
        "crosstab": {"row": "a", "column": "b", "rows": ("a", "b"), "columns": ("a", "b")},
        "ustatistic": {"columns": ("a",), "bounds": (0, 1)},
    }
    usual = {"bounds": (0, 1)}
    for kind in CALLED.values():
        needed = [field.name for field in dataclasses.fields(kind.statistic) if field.default is dataclasses.MISSING]
        given = columns.get(kind.name, usual if "bounds" in kind.options else {})
        given = {name: name for name in needed} | given
        for field in dataclasses.fields(kind.statistic):
            words = choices_of(field)
            for word in words:
                assert getattr(kind.statistic(**given | {field.name: word}), field.name) == word
            if words:
                assert words[0] == field.default
                with pytest.raises(ogive.ParameterError):
                    kind.statistic(**given | {field.name: "no_such_word"})


# --- who holds the records ---

IN_PYTHON = {"secagg": {"threshold"}, "servers": {"verified", "verifications", "tolerated"}}


@pytest.mark.parametrize("model", MODELS)
def test_every_field_of_a_trust_model_is_an_option_unless_it_is_marked(model):
    assert options_named(model) is model_named(model).options_type
    fields = {field.name for field in dataclasses.fields(options_named(model))}
    found = {name: note for name, note in HolderOptions.__annotations__.items() if name in fields}
    assert set(found) == fields - IN_PYTHON.get(model, set())
    for name, annotation in found.items():
        parameter = annotation.__metadata__[0]
        assert parameter.name == (f"--{name}",)
        assert re.search(rf"With --trust (\w+ or )?{model}", parameter.help)
        assert not re.search(r"[`\"]|\bNone\b", parameter.help), parameter.help
        assert getattr(HolderOptions(), name) is None, "what is not said is left to the model"


def test_fields_of_two_trust_models_are_one_option_unless_their_words_mean_different_things():
    """The control."""

    @dataclasses.dataclass(frozen=True)
    class Few:
        """Few.

        Fields:
            people: How many.
            secret: Which.
        """

        people: "int"
        secret: "int" = python_only(0)

    @dataclasses.dataclass(frozen=True)
    class Named:
        """Named.

        Fields:
            people: Who.
        """

        people: "str" = "all"

    found = declared({"few": Few, "many": Few})
    assert {name: [*fields] for name, fields in found.items()} == {"people": ["few", "many"]}
    parameter = option_of("people", found["people"], {"few": Few, "many": Few}).__metadata__[0]
    assert parameter.help == "With --trust few or many: how many."
    types = {"few": Few, "named": Named}
    with pytest.raises(TypeError, match="the fields people of few, named are read in different ways"):
        option_of("people", declared(types)["people"], types)
