"""Distribution functions, rank statistics and consensus labels with differential privacy.

The public names are listed in `__init__.pyi`. They load when first used, so that importing ogive is quick and runs
nothing; so do the parts of the package that have public names of their own, such as `ogive.pate`.
"""

from ogive.core.rooms import front

__version__ = "0.1.0"

_load, _names, __all__ = front(__name__, __file__)


def __getattr__(name: str) -> object:
    try:
        return _load(name)
    except AttributeError as missing:
        from ogive.statistics.kinds import function_called

        return _load(function_called(name, str(missing)))


def __dir__() -> list[str]:
    return sorted([*_names(), "__version__"])
