# ruff: noqa: D101, D102
"""TRANSITION: the view of an estimate that still has `text.py` and `picture.py`."""

from __future__ import annotations

from typing import Any

from ogive.core.rooms import room
from ogive.showing.view import Card, View


class LegacyView(View):
    def _text(self) -> Any:
        return room(type(self.found), "text")

    def _picture(self) -> Any:
        return room(type(self.found), "picture")

    @property
    def short(self) -> str:
        return str(self._text().short(self.found))

    def text(self) -> str:
        return str(self._text().summary(self.found))

    def card(self) -> Card:
        found: Card = self._text().card(self.found)
        return found

    @property
    def about(self) -> str:
        return str(self._text().line_about(self.found))

    @property
    def line(self) -> Any:
        return tuple(zip(self._text().line_titles(self.found), self._text().line_cells(self.found), strict=True))

    @property
    def columns(self) -> Any:
        return self._text().columns(self.found)

    def draw(self, ax: Any = None, **style: Any) -> Any:
        return self._picture().draw(self.found, ax, **style)

    def chapter(self, truth: Any = None) -> Any:
        return self._picture().chapter(self.found, truth)

    @property
    def compares(self) -> bool:
        return hasattr(self._text(), "line_number")

    def number(self, confidence_level, probability):
        return self._text().line_number(self.found, confidence_level, probability)

    @property
    def key(self) -> str:
        return self._picture().key(self.found) if hasattr(self._picture(), "key") else ""

    @property
    def draw_groups(self) -> Any:
        return getattr(self._picture(), "draw_groups", None)
