"""Write the table of noise shapes for curves by projection.

    python benchmarks/projection_shapes.py

Takes a few minutes. The table is part of the format of released curves: a new one changes what stored answers mean.
"""

from __future__ import annotations

from ogive.privacy import Adjacency
from ogive.strategies.projection.features import TABLE, computed, key, packed, write_table
from ogive.strategies.projection.form import BASES, LARGEST_DEGREE, MAX_DEGREE, Form


def forms() -> list[Form]:
    """All forms whose whitening is in the table."""
    found = []
    for adjacency in Adjacency:
        for basis in BASES.values():
            for degree in range(basis.least, MAX_DEGREE + 1):
                found.append(Form(basis.name, degree, "shaped", "exact", adjacency))
                if basis.name != "splines":
                    found += [Form(basis.name, degree, n, "exact", adjacency, True) for n in ("shaped", "isotropic")]
        found += [Form("legendre", k, "moments", "exact", adjacency, True) for k in range(LARGEST_DEGREE + 1)]
    return found


def main() -> None:
    """Compute every entry and write the table."""
    entries = {}
    for form in forms():
        entries[key(form)] = packed(form, computed(form))
        print(key(form), flush=True)
    write_table(entries)
    print(f"{TABLE}: {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
