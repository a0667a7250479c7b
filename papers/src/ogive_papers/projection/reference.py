"""Numbers that simulations of the same settings gave elsewhere: KS / EMD / energy, means of 50 runs.

The paper prints none. These were made for the specification of this package by another program, with other random
numbers; their relative standard errors are about `ERROR`. Ours must agree with them within `TOLERANCE`.
"""

from __future__ import annotations

from ogive_papers.projection.distances import DISTANCES, KS

ERROR, TOLERANCE = 0.05, 0.2

Reference = dict[tuple[str, str, float, str], float]
"""From method, data, epsilon and distance to the mean."""


def _read(text: str, columns: tuple[tuple[str, float], ...]) -> Reference:
    result: Reference = {}
    for line in text.strip().splitlines():
        method, *cells = (cell.strip() for cell in line.split("|"))
        for (data, epsilon), cell in zip(columns, cells, strict=True):
            for distance, value in zip(DISTANCES, cell.split("/"), strict=True):
                result[method, data, epsilon, distance] = float(value)
    return result


_SHAPES = ("normal", "beta", "uniform", "exponential", "mixture")

CENTRAL = _read(
    """
no privacy | .0084/.0130/.0101 | .0082/.0018/.0038 | .0092/.0034/.0059 | .0082/.0119/.0093 | .0087/.0215/.0140
PP | .216/.484/.358 | .188/.057/.113 | .184/.074/.124 | .200/.316/.249 | .192/.518/.332
PP, exact | .200/.458/.337 | .176/.054/.108 | .176/.071/.120 | .191/.302/.237 | .181/.494/.316
LEG K=6 | .029/.078/.051 | .020/.0062/.0113 | .026/.0079/.0138 | .024/.051/.034 | .061/.153/.105
LEG-E K=6 | .027/.072/.048 | .010/.0045/.0077 | .012/.0055/.0090 | .012/.035/.022 | .059/.151/.103
LEG-E K=10 | .011/.037/.023 | .012/.0046/.0081 | .014/.0058/.0096 | .012/.033/.021 | .028/.068/.045
LEG-E K=20 | .014/.039/.025 | .015/.0050/.0091 | .017/.0066/.0111 | .017/.040/.025 | .014/.042/.026
HQ, joint, step | .108/.166/.124 | .088/.025/.045 | .048/.018/.030 | .232/.262/.192 | .105/.149/.113
HQ, joint, cut | .024/.073/.045 | .027/.0114/.0194 | .023/.0087/.0150 | .032/.132/.075 | .023/.071/.044
AQ, joint | .055/.096/.067 | .052/.0122/.0235 | .056/.0163/.0290 | .055/.091/.062 | .053/.104/.069
HQ, naive | .279/.838/.521 | .336/.158/.264 | .180/.067/.115 | .463/2.02/1.13 | .217/.575/.369
AQ, naive | .271/.433/.344 | .275/.071/.146 | .267/.105/.181 | .274/.438/.347 | .269/.679/.460
""",
    tuple((shape, 0.1) for shape in _SHAPES),
) | _read(
    """
PP | .035/.088/.060 | .025/.0096/.0175 | .035/.0140/.0230 | .045/.077/.052 | .069/.173/.116
LEG-E K=6 | .025/.069/.045 | .0049/.0018/.0035 | .0063/.0031/.0052 | .0069/.0129/.0088 | .057/.149/.101
LEG-E K=10 | .0060/.0143/.0100 | .0059/.0019/.0038 | .0069/.0032/.0053 | .0057/.0128/.0088 | .024/.060/.040
LEG-E K=20 | .0064/.0141/.0102 | .0068/.0020/.0040 | .0077/.0033/.0055 | .0062/.0132/.0091 | .0069/.0227/.0144
HQ, joint, step | .105/.135/.115 | .082/.0173/.037 | .039/.0170/.028 | .232/.143/.158 | .106/.141/.116
HQ, joint, cut | .0079/.0166/.0116 | .0078/.0025/.0046 | .0087/.0035/.0060 | .0096/.0196/.0133 | .0101/.0278/.0177
AQ, joint | .0131/.0413/.0253 | .0119/.0030/.0055 | .0117/.0038/.0065 | .0113/.0321/.0192 | .0133/.0355/.0219
HQ, naive | .114/.221/.148 | .106/.039/.066 | .070/.025/.042 | .232/.456/.274 | .112/.199/.136
AQ, naive | .044/.082/.054 | .047/.0105/.0199 | .046/.0130/.0231 | .045/.078/.052 | .045/.089/.059
""",
    tuple((shape, 1.0) for shape in _SHAPES),
)
"""All 10 000 records in one place."""

_COLUMNS = (("normal", 0.1), ("beta", 0.1), ("weight-like", 0.1), ("normal", 1.0), ("weight-like", 1.0))

SITES = _read(
    """
PP | .449/.820/.652 | .369/.096/.202 | .275/7.77/1.61 | .094/.235/.169 | .062/1.73/.361
PP, secure sum | .182/.415/.306 | .190/.058/.115 | .111/3.41/.694 | .037/.090/.062 | .049/1.40/.296
LEG-E K=10 | .029/.094/.060 | .030/.012/.020 | .016/.613/.108 | .0065/.0186/.0119 | .0082/.308/.055
LEG-E K=10, secure sum | .011/.033/.021 | .013/.0044/.0080 | .010/.368/.065 | .0056/.0139/.0095 | .0081/.302/.054
LEG-E K=20 | .035/.094/.062 | .042/.014/.026 | .019/.742/.130 | .0070/.0176/.0118 | .0041/.142/.026
LEG-E K=20, secure sum | .013/.039/.025 | .016/.0050/.0092 | .0055/.208/.037 | .0058/.0134/.0094 | .0034/.092/.019
HQ, joint, cut | .063/.196/.122 | .076/.033/.056 | .035/1.62/.263 | .010/.028/.018 | .0073/.254/.044
HQ, naive | .375/1.19/.736 | .468/.227/.379 | .316/15.1/2.40 | .183/.515/.322 | .136/4.19/.707
AQ, joint | .139/.225/.172 | .142/.035/.069 | .074/1.46/.301 | .025/.053/.033 | .012/.350/.058
AQ, naive | .671/1.09/.943 | .713/.185/.406 | .366/7.89/1.82 | .125/.194/.148 | .059/1.25/.239
""",
    _COLUMNS,
)
"""Ten sites; 25 000 records of the normal distribution that is like the weights, 10 000 elsewhere."""

UPDATES = {
    key: value for key, value in SITES.items() if "secure" not in key[0] and not key[0].startswith("AQ")
} | _read(
    """
AQ, joint | .142/.230/.173 | .025/.054/.033
AQ, naive | .867/1.78/1.45 | .295/.491/.394""",
    (("normal", 0.1), ("normal", 1.0)),
)
"""Ten updates: as ten sites, but for adaptive quantiles."""

WITHOUT_NOISE: Reference = {
    ("HQ, naive, without noise", "normal", 0.1, KS): 0.105,
    ("AQ, naive, without noise", "normal", 0.1, KS): 0.012,
    ("PP, without noise", "normal", 0.1, KS): 0.025,
    ("PP, without noise", "beta", 0.1, KS): 0.0045,
    ("HQ, naive, without noise", "exponential", 0.1, KS): 0.232,
}
"""Single curves before any noise; epsilon plays no part."""
