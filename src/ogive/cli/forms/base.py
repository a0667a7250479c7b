"""What a form is, and an option of the command line from a field of a dataclass."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from cyclopts import Group, Parameter

from ogive.statistics.options import entries


class Part(Protocol):
    """A dataclass of options that come with a form, such as those of a method."""

    name: str

    def __call__(self) -> Any:
        """One with all defaults."""
        ...


@dataclass(frozen=True)
class Words:
    """The words for one field.

    Fields:
        option: The option's name.
        said: What the parser read; None where the option is not given.
        others: The same of all fields, by their names.
        parts: The groups of options that come with the form.
    """

    option: str
    said: Any
    others: Mapping[str, Any]
    parts: Sequence[Any] = ()


def as_said(words: Words) -> Any:
    """What the parser read is the value."""
    return words.said


def as_text(default: Any) -> str:
    """A default in a word; nothing where there is none."""
    return "" if default is None or isinstance(default, tuple) else str(default)


@dataclass(frozen=True)
class Form:
    """How words become a value of one type.

    Fields:
        annotation: The type that the parser reads, for a default of the field; None always stands for an
            option that is not given.
        read: The value.
        help: The option's help, where the words of the command line are not the values that the field's documentation
            names.
        open: Whether other words are read than those that a field names.
        several: Whether any number of words may follow.
        shown: A default as the help shows it.
        converter: Reads the words in place of the parser.
        parts: Makes the groups of options that come with it; these load what declares them.
        owner_parts: The same where owners are asked.
    """

    annotation: Callable[[Any], Any]
    read: Callable[[Words], Any] = as_said
    help: str = ""
    open: bool = False
    several: bool = False
    shown: Callable[[Any], str] = as_text
    converter: Any = None
    parts: Callable[[], tuple[Any, ...]] = tuple
    owner_parts: Callable[[], tuple[Any, ...]] = tuple


# --- An option from a field of a dataclass
#
# The option has the field's name, and the field's text in the documentation of the class is its help. The type says how
# words become a value: `forms` has a form for each.

_ON_THE_COMMAND_LINE = (
    (re.compile(r"`Ecdf`"), "ogive ecdf"),
    (re.compile(r"[`\"]"), ""),
    (re.compile(r"\bADD_OR_REMOVE\b"), "--adjacency add_or_remove"),
    (re.compile(r"\bREPLACE\b"), "--adjacency replace"),
    (re.compile(r"\s+"), " "),
)


def described(declaring: type) -> dict[str, str]:
    """What the documentation of a dataclass says of each field, in words of the command line."""
    found = {}
    for names, text in entries(inspect.cleandoc(declaring.__doc__ or ""), "Fields"):
        entry = text.partition(": ")[2]
        for pattern, words in _ON_THE_COMMAND_LINE:
            entry = pattern.sub(words, entry)
        found.update(dict.fromkeys(names, entry))
    return found


def default_shown(form: Form, default: Any) -> str | bool:
    """A default as the help shows it; False if the help shows none."""
    return False if default is dataclasses.MISSING else form.shown(default) or False


def option_type(
    form: Form,
    default: Any,
    *,
    name: str,
    help: str,
    group: Group,
    shown: Any,
    words: tuple[str, ...] = (),
    negative: str | tuple[str, ...] = (),
    required: bool = False,
) -> Any:
    """The type of an option as the parser reads it.

    Args:
        form: How words become a value.
        default: Of the field.
        name: Of the option, without dashes.
        help: What it says.
        group: Heading under which it stands.
        shown: The default as the help shows it; False where it shows none, None for the parser's own.
        words: The words that are completed, and the only ones that there are unless the form is open; any where none
            are given.
        negative: The option that says no.
        required: Whether something has to be said.
    """
    annotation: Any = form.annotation(default)
    if words:
        annotation = Literal[words] | annotation if form.open else Literal[words]
    return Annotated[
        str if required else annotation,
        Parameter(
            name=f"--{name}",
            help=help,
            group=group,
            negative=negative,
            show_default=shown,
            consume_multiple=form.several or None,
            converter=None if words else form.converter,
        ),
    ]
