"""What a form is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Part(Protocol):
    """A dataclass of options that come with a form, such as those of a method."""

    name: str

    def __call__(self) -> Any:
        """One with all defaults."""
        ...


@dataclass(frozen=True)
class Words:
    """What was said for one field.

    Fields:
        option: The option's name.
        said: What the parser read; None where nothing was said.
        others: What was said for all fields, by their names.
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
        annotation: The type that the parser reads, for a default of the field; None always stands for nothing said.
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
