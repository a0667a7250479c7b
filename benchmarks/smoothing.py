"""Smoothing of path noise on one core: ogive against sparse interior-point solvers, in one process.

All solve Eq. 3 for Poisson counts of mean 3 with the paper's noise at epsilon 1: monotone and
within [0, total]. The solvers get the sparse path-sum form, one variable per node: s_v is the
sum of the corrections from the root to v, and the objective is sum |s_v - s_parent|^p. Only
the solver is timed, not the building of its matrices; ours is timed from the answer to the curve.

After that, speed of shrinkage, and root mean squared errors of every kind of smoothing, in records.

Run: python benchmarks/smoothing.py [--quick] [--errors]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from curves import KINDS, RECORDS, Errors, histogram
from harness import best_time, record, row
from scipy import sparse

from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import PathNoise, design_hats, design_path, design_square_root, design_tree
from ogive.strategies.path import uniform_tree
from ogive.strategies.smoothing import smooth

# seconds that must be reached, by (kind, log2 N)
MUST = {
    ("shrinkage", 15): 0.06,
    ("shrinkage", 20): 3.0,
    ("least_squares", 15): 0.06,
    ("least_squares", 20): 3.0,
    ("least_absolute", 15): 0.35,
}
PEERS = ("piqp", "clarabel", "cvxopt")


class Problem:
    """Path sums of a full binary tree: variables, objective and constraints as sparse matrices.

    Args:
        answer: Noisy cumulative counts, shape (N,), N a power of two.
        total: Upper end of the box.
    """

    def __init__(self, answer: np.ndarray, total: int) -> None:
        size = answer.size
        nodes = 2 * size - 1  # heap order: the root is 0, the leaves are the last N
        parents = (np.arange(1, nodes) - 1) // 2
        self.differences = sparse.eye_array(nodes, format="lil")
        self.differences[np.arange(1, nodes), parents] = -1.0
        self.differences = sparse.csc_matrix(self.differences)
        leaves = size - 1 + np.arange(size)
        steps = sparse.coo_array(
            (
                np.concatenate([np.ones(size), -np.ones(size - 1), [-1.0]]),
                (
                    np.concatenate([np.arange(size), np.arange(1, size), [size]]),
                    np.concatenate([leaves, leaves[:-1], leaves[-1:]]),
                ),
            ),
            shape=(size + 1, nodes),
        )
        # -steps s <= increments of the noisy counts, the last being total minus the last count
        self.above = sparse.csc_matrix(-steps)
        self.limit = np.diff(answer, prepend=0, append=total).astype(float)

    def matrices(self, kind: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
        """P, c, G, h of: minimize x' P x / 2 + c' x subject to G x <= h."""
        nodes = self.differences.shape[1]
        if kind == "least_squares":
            return sparse.csc_matrix(self.differences.T @ self.differences), np.zeros(nodes), self.above, self.limit
        # s and t with |s_v - s_parent| <= t_v
        eye = sparse.eye_array(nodes)
        none = sparse.csc_matrix((self.above.shape[0], nodes))
        rows = sparse.block_array([[self.above, none], [self.differences, -eye], [-self.differences, -eye]])
        cost = np.concatenate([np.zeros(nodes), np.ones(nodes)])
        limit = np.concatenate([self.limit, np.zeros(2 * nodes)])
        return sparse.csc_matrix((2 * nodes, 2 * nodes)), cost, sparse.csc_matrix(rows), limit


def peer_solver(peer: str, problem: tuple[Any, np.ndarray, Any, np.ndarray]) -> Callable[[], float] | None:
    """The peer's solver of a prepared problem, returning its objective; None if it is not installed."""
    square, cost, rows, limit = problem
    try:
        module = __import__(peer)
    except ImportError:
        return None
    if peer == "piqp":

        def run() -> float:
            solver = module.SparseSolver()
            solver.settings.verbose = False
            solver.setup(square, cost, None, None, rows, None, limit)
            solver.solve()
            return float(solver.result.info.primal_obj)

    elif peer == "clarabel":
        settings = module.DefaultSettings()
        settings.verbose = False
        upper = sparse.csc_matrix(sparse.triu(square))
        cones = [module.NonnegativeConeT(limit.size)]

        def run() -> float:
            return float(module.DefaultSolver(upper, cost, rows, limit, cones, settings).solve().obj_val)

    else:
        module.solvers.options["show_progress"] = False
        parts = [_cvxopt_matrix(module, part) for part in (square, rows)]
        vectors = [module.matrix(part) for part in (cost, limit)]

        def run() -> float:
            solved = module.solvers.coneqp(parts[0], vectors[0], parts[1], vectors[1])
            return float(solved["primal objective"])

    return run


def _cvxopt_matrix(module: Any, part: Any) -> Any:
    entries = part.tocoo()
    return module.spmatrix(entries.data, entries.row.tolist(), entries.col.tolist(), part.shape)


def noisy(strategy: Any, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Measurements of a histogram with rounded Laplace noise; only its speed is of interest."""
    noise = tuple(
        np.rint(rng.laplace(size=level.nodes) * np.sqrt(level.law.variance / 2)).astype(np.int64)
        for level in strategy.levels
    )
    return strategy.measure(counts) + strategy.spread(noise)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure; times in seconds."""
    rng = np.random.default_rng(7)
    runs = 2 if quick else 5
    for log_size in (10, 15) if quick else (10, 15, 20):
        size = 2**log_size
        counts = rng.poisson(3, size)
        total = int(counts.sum())
        path = PathNoise(uniform_tree(size, 2), DiscreteLaplace(log_size + 1))
        answer = noisy(path, counts, rng)
        problem = Problem(answer, total) if log_size <= 15 else None
        for kind in ("least_squares", "least_absolute"):
            ours = best_time(partial(smooth, path, answer, total=total, kind=kind, anchor=False), runs=runs)
            work = f"smoothing of path noise, {kind}, N=2^{log_size}"
            common = {"runs": runs, "target": MUST.get((kind, log_size)), "larger_is_better": False}
            matrices = problem.matrices(kind) if problem else None
            for peer in PEERS if matrices else ():
                solve = peer_solver(peer, matrices)
                theirs = None if solve is None else best_time(solve, runs=min(runs, 2))
                yield row(work, "time", "s", ours, peer=peer, peer_value=theirs, **common)
            if not matrices:
                yield row(work, "time", "s", ours, **common)
        for design in (design_tree, design_hats):
            strategy = design(size, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
            answer = noisy(strategy, counts, rng)
            ours = best_time(partial(smooth, strategy, answer, total=total, kind="least_squares"), runs=runs)
            yield row(f"smoothing of {strategy.name}, least_squares, N=2^{log_size}", "time", "s", ours, runs=runs)


def shrinkage_rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Seconds that shrinkage takes once the energy of the noise of the strategy is known."""
    rng = np.random.default_rng(8)
    runs = 2 if quick else 5
    for log_size in (15,) if quick else (15, 20):
        counts = rng.poisson(3, 2**log_size)
        for design in (design_path, design_tree, design_hats):
            strategy = design(2**log_size, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
            run = partial(smooth, strategy, noisy(strategy, counts, rng), total=int(counts.sum()), kind="shrinkage")
            work = f"smoothing of {strategy.name}, shrinkage, N=2^{log_size}"
            target = MUST[("shrinkage", log_size)]
            yield row(work, "time", "s", best_time(run, runs=runs), runs=runs, target=target, larger_is_better=False)


def error_rows(quick: bool, size: int = 2**15) -> Iterator[dict[str, Any]]:
    """Errors of curves at epsilon 1 (0.5-zCDP for the square root) with one record replaced, raw and smoothed."""
    rng = np.random.default_rng(9)
    runs = 5 if quick else 40
    pure, concentrated = PureDP(1), ZeroConcentratedDP("0.5")
    strategies = {
        "hat_ls": design_hats(size, privacy=pure, adjacency=Adjacency.REPLACE),
        "tree_ls": design_tree(size, privacy=pure, adjacency=Adjacency.REPLACE),
        "path": design_path(size, privacy=pure, adjacency=Adjacency.REPLACE),
        "the paper's path": design_path(size, privacy=pure, adjacency=Adjacency.REPLACE, constants="paper"),
        "sqrt": design_square_root(size, privacy=concentrated, adjacency=Adjacency.REPLACE),
    }
    for name, strategy in strategies.items():
        # least squares of the square root takes seconds a curve
        kinds = (
            ("raw", "shrinkage", "isotonic") if name == "sqrt" else ("raw", "shrinkage", "least_squares", "isotonic")
        )
        for data in KINDS:
            counts = histogram(data, size)
            truth = np.cumsum(counts).astype(np.float64)
            errors = {kind: Errors() for kind in kinds}
            for _ in range(runs):
                answer = noisy(strategy, counts, rng)
                errors["raw"].add(strategy.estimate(answer, RECORDS), truth)
                for kind in kinds[1:]:
                    errors[kind].add(smooth(strategy, answer, total=RECORDS, kind=kind), truth)
            for kind, found in errors.items():
                yield row(f"error of {name}, {kind}, {data}, N={size}", "RMSE", "records", found.rmse, runs=runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs, N up to 2^15")
    parser.add_argument("--errors", action="store_true", help="only errors, and the speed of shrinkage")
    arguments = parser.parse_args()
    quick = arguments.quick
    if not arguments.errors:
        record(rows(quick), quick=quick)
    record(shrinkage_rows(quick), quick=quick)
    record(error_rows(quick), quick=quick)


if __name__ == "__main__":
    main()
