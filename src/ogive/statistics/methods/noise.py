"""Kinds of noise that a guarantee allows, and one design for each."""

from __future__ import annotations

from collections.abc import Callable

from ogive.accounting import pure_epsilon
from ogive.errors import ParameterError, ScaleError
from ogive.noise import too_much_noise
from ogive.privacy import Privacy, PureDP
from ogive.strategies import Strategy

NOISES = ("auto", "gaussian", "laplace")


def allowed_grants(privacy: Privacy, noise: str) -> list[Privacy]:
    """What noise is designed for: the guarantee itself, for Gaussian noise, and the pure one that implies it.

    Raises:
        ParameterError: Gaussian noise is wanted for a pure guarantee.
    """
    if isinstance(privacy, PureDP):
        if noise == "gaussian":
            raise ParameterError(f"Gaussian noise cannot give {privacy}; ask for `ZeroConcentratedDP` or `ApproxDP`")
        return [privacy]
    wanted: list[Privacy] = [] if noise == "laplace" else [privacy]
    return wanted if noise == "gaussian" else [*wanted, pure_epsilon(privacy)]


def designs(privacy: Privacy, noise: str, design: Callable[[Privacy], Strategy], *, what: str) -> list[Strategy]:
    """One design for each kind of noise that is wanted and that the guarantee allows.

    Raises:
        ParameterError: Gaussian noise is wanted for a pure guarantee.
        ParameterError: none can be drawn so finely.
        ScaleError: all of them need more noise than can be drawn.
    """
    made: list[Strategy] = []
    failed: list[tuple[PureDP, ScaleError]] = []
    problem: ParameterError | None = None
    for grant in allowed_grants(privacy, noise):
        try:
            made.append(design(grant))
        except ScaleError as error:
            failed.append((grant if isinstance(grant, PureDP) else pure_epsilon(grant), error))
        except ParameterError as error:
            problem = error
    if not made:
        raise too_much_noise(privacy, what, failed) if problem is None or failed else problem
    return made
