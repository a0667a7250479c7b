"""How many steps a server took, apart from its state, so that a state that is lost or an older one is found out.

A server that forgot which material it used would use it for a second check, and that tells the other server the cells
of its clients. So the number of each step is in the state first, then here, and only then does anything of the step
leave. A state with a smaller number than the last one here is not the one that this server had.
"""

from __future__ import annotations

from pathlib import Path

from ogive.errors import RefusalError
from ogive.segments.log import Segments
from ogive.study.store import Kept

FOLDER = "steps"

_STEPS, _NUMBER_BYTES = "steps", 8


class Steps:
    """The steps of one server.

    Args:
        folder: Of the server.

    Raises:
        RefusalError: the file cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._log = Segments(folder / FOLDER)
        try:
            self._noted = max((int.from_bytes(each, "little") for each in self._log), default=0)
        except BaseException:
            self._log.close()
            raise

    def check(self, kept: Kept, words: str) -> None:
        """Refuse a state that took fewer steps.

        Args:
            kept: The state.
            words: Where it is.

        Raises:
            RefusalError: it did.
        """
        if _taken(kept) < self._noted:
            raise RefusalError(
                f"the state {words} is lost or an older one: this server took {self._noted} steps, and it knows of "
                f"{_taken(kept)}; what is used twice would reveal records, so a new study is needed"
            )

    def take(self, kept: Kept) -> int:
        """Count a step in the state; returns its number, which is to be noted once the state is durable."""
        number = max(_taken(kept), self._noted) + 1
        kept.put(_STEPS, number.to_bytes(_NUMBER_BYTES, "little"))
        return number

    def note(self, number: int) -> None:
        """Note a step that is in the state.

        Raises:
            RefusalError: it cannot be stored; nothing of the step may leave.
        """
        self._log.append([number.to_bytes(_NUMBER_BYTES, "little")])
        self._noted = number

    def close(self) -> None:
        """Let another process open it."""
        self._log.close()


def _taken(kept: Kept) -> int:
    return int.from_bytes(kept.get(_STEPS) or b"", "little")
