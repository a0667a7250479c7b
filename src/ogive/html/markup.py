"""HTML that is escaped because it is built, not because someone remembered.

A plain `str` is text and is escaped when it enters an element; only `Html` goes in as it is,
and only `tag` makes it.
"""

from __future__ import annotations

import html
import re

VOID = frozenset({"br", "col", "hr", "link", "meta"})

# characters that neither HTML nor XML may hold, however they are written
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# direction overrides would let a column's name rearrange the words around it
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Html(str):
    """Finished markup."""

    __slots__ = ()


Child = Html | str | None


def text(value: str) -> Html:
    """Escape text; characters that no page may hold become the replacement character."""
    return Html(html.escape(_OVERRIDES.sub("", _FORBIDDEN.sub("\ufffd", value)), quote=True))


def join(*children: Child) -> Html:
    """Put pieces one after another; text is escaped, None is nothing."""
    return Html("".join(child if isinstance(child, Html) else text(child) for child in children if child is not None))


def tag(name: str, /, *children: Child, **attributes: str | float | None) -> Html:
    """Build one element.

    Args:
        name: Of the element.
        children: What it holds, in order; text is escaped.
        attributes: Values are escaped, None leaves one out. A trailing underscore is dropped and the others
            become hyphens: `class_`, `aria_hidden`.
    """
    written = []
    for key, value in attributes.items():
        if value is not None:
            shown = value if isinstance(value, str) else f"{value:g}"
            written.append(f' {key.rstrip("_").replace("_", "-")}="{text(shown)}"')
    opening = f"<{name}{''.join(written)}>"
    return Html(opening if name in VOID else f"{opening}{join(*children)}</{name}>")
