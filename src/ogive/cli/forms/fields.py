"""An option of the command line from a field of a dataclass, which alone declares it.

The option has the field's name, and the field's text in the documentation of the class is its help. The type says how
words become a value: `forms` has a form for each.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.forms.base import Form
from ogive.statistics.options import entries

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
    """A default as the help shows it; False where there is none to show."""
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
