"""`ogive warmup`: compile what releases use, where an image is built or after an installation."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ogive.cli.output import busy
from ogive.errors import RefusalError


def warmup(*, check: Annotated[bool, Parameter(show_default=False)] = False) -> None:
    """Compile ahead of time, on this machine, the code that releases use.

    A release of each kind is made of records that nobody has. Compiled code is kept beside the package's source,
    or, where that is read-only, in the user's cache folder; NUMBA_CACHE_DIR names another. It fits processors such as
    this machine's.

    Args:
        check: Compile nothing, and say whether all of it is there; exit status 1 where it is not.
    """
    from ogive import warming
    from ogive.cautions import no_books_wanted

    no_books_wanted()  # records are invented here

    place = warming.place()
    if place is None and not check:
        raise RefusalError(
            "compiled code can be kept nowhere: the package's folder and the user's cache folder cannot be written to; "
            "set NUMBA_CACHE_DIR to a folder that you alone can write to"
        )
    compiled, seconds = 0, 0.0
    number = len(warming.tasks())
    with busy("checking compiled code" if check else "compiling for this machine") as progress:
        for done, task in enumerate(warming.warm(kept=check), start=1):
            progress(done, number)
            compiled, seconds = compiled + task.compiled, seconds + task.seconds
            if not check:
                print(f"{task.name:<32} {task.compiled:>4} compiled, {task.seconds:5.1f} s", flush=True)
    if check:
        print("all that releases use is compiled for this machine")
    else:
        print(f"{compiled} functions compiled in {seconds:.0f} s; the code is kept in {place}")
