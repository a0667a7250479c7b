"""Numba's decorators; compiled code is kept on disk where this machine has a place for it.

Numba keeps machine code in NUMBA_CACHE_DIR, beside the source or in the user's cache folder, and refuses to decorate a
function where it may write to none of them, as under a service account with a package folder of another owner. There
code is compiled anew in each process, which takes seconds and changes no result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Function], Function]:
    """Compile a function at its first call, as `numba.njit` does with these options."""

    def decorate(function: Function) -> Function:
        return cast(Function, _kept(numba.njit, function, options))

    return decorate


def vectorize(function: Callable[..., Any]) -> Any:
    """Compile a function of numbers to one of arrays, as `numba.vectorize` does."""
    return _kept(numba.vectorize, function, {})


def _kept(decorator: Any, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return decorator(cache=True, **options)(function)
    # no folder to write to, or one whose name Python cannot encode
    except (RuntimeError, UnicodeEncodeError):
        return decorator(**options)(function)
