"""The curve edwards25519 in plain numbers: slow, complete, and independent of any library."""

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
_ROOT = pow(2, (P - 1) // 4, P)  # of -1

Point = tuple[int, int]
IDENTITY: Point = (0, 1)


def plus(first: Point, second: Point) -> Point:
    """The sum; the formula holds for any two points of the curve."""
    (x, y), (u, v) = first, second
    t = D * x * u * y * v % P
    return (x * v + y * u) * pow(1 + t, -1, P) % P, (y * v + x * u) * pow(1 - t, -1, P) % P


def times(scalar: int, point: Point) -> Point:
    """A multiple."""
    total = IDENTITY
    while scalar:
        if scalar & 1:
            total = plus(total, point)
        point, scalar = plus(point, point), scalar >> 1
    return total


def encoded(point: Point) -> bytes:
    """The canonical encoding."""
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decoded(data: bytes) -> Point | None:
    """The point of an encoding, canonical or not; None where there is none."""
    number = int.from_bytes(data, "little")
    y, odd = number & (1 << 255) - 1, number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * _ROOT % P
    if x * x % P != square:
        return None
    return (P - x if x & 1 != odd else x) % P, y % P


BASE = decoded((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
assert BASE is not None


def torsion() -> list[Point]:
    """The eight points whose order divides 8, the identity first."""
    y = 2
    while True:
        point = decoded(y.to_bytes(32, "little"))
        eighth = None if point is None else times(L, point)
        if eighth is not None and times(4, eighth) != IDENTITY:
            return [times(k, eighth) for k in range(8)]
        y += 1
