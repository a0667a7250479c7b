"""Whether plain data that were kept are what is computed now."""

import math


def alike(found, kept):
    """Equal but for what another machine's floating point may do to the last digits of a number."""
    if isinstance(kept, dict):
        return found.keys() == kept.keys() and all(alike(found[name], kept[name]) for name in kept)
    if isinstance(kept, list):
        return len(found) == len(kept) and all(map(alike, found, kept))
    if isinstance(kept, float):
        return math.isclose(found, kept, rel_tol=1e-9, abs_tol=1e-12)
    return type(found) is type(kept) and found == kept
