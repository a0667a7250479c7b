"""Virtual adversarial training: a network learns from few labels and many inputs without any.

For each unlabelled input the direction is found in which the network's probabilities change fastest, and the network is
taught not to change them there. With a small push to be sure of its labels, boundaries move away from where inputs are.

Source: Miyato, Maeda, Koyama and Ishii, Virtual adversarial training, IEEE TPAMI 2019, algorithm 1 and section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ogive.core.checks import Progress
from ogive.errors import DataError, ParameterError
from ogive.pate.networks import NetworkModel, drawn, tensor, trained, unchanged, whole_tensor

_PROBE = 0.1
"""How far from an input the direction is looked for."""


@dataclass(eq=False)
class VirtualAdversarialStudent(NetworkModel):
    """A torch network trained on inputs of which most are unlabelled (label -1).

    Args:
        make: Function that makes the network; `ogive.pate.networks` has two.
        radius: Radius of the perturbation, in the Euclidean norm of an input.
        smoothness: Weight of the virtual adversarial loss.
        sureness: Weight of the entropy of the predictions on unlabelled inputs.
        steps: Number of training batches.
        batch: Number of labelled inputs in a batch.
        unlabelled_batch: Number of unlabelled inputs in a batch.
        rate: Learning rate, decreasing to zero over the second half of the steps.
        decay: Weight decay.
        augment: Random augmentation of a batch of inputs that preserves classes; None for none.
        random_state: Seed of weights, batches and directions.
        progress: Called with the steps done and the steps in all.
    """

    make: Callable[[], Any]
    radius: float = 2.0
    smoothness: float = 1.0
    sureness: float = 1.0
    steps: int = 3000
    batch: int = 32
    unlabelled_batch: int = 128
    rate: float = 1e-3
    decay: float = 1e-4
    augment: Callable[[Any], Any] | None = None
    random_state: int = 0
    progress: Progress | None = None
    network: Any = field(default=None, init=False, repr=False)

    def fit(self, features: Any, labels: Any) -> VirtualAdversarialStudent:
        """Train on inputs of shape (rows, ...) with labels from 0, or -1 for unlabelled inputs, shape (rows,).

        Raises:
            ParameterError: a parameter is out of range.
            DataError: no input has a label, or inputs are not finite.
        """
        import torch
        from torch.nn import functional

        if not self.radius > 0 or self.unlabelled_batch < 1:
            raise ParameterError("`radius` must be above 0, and `unlabelled_batch` at least 1")
        inputs, known = tensor(features), whole_tensor(labels)
        labelled = torch.nonzero(known >= 0).ravel()
        if not len(labelled):
            raise DataError("no input has a label; training needs at least one")
        change = self.augment or unchanged

        def loss(network: Any, reached: float) -> Any:
            rows = labelled[drawn(len(labelled), self.batch)]
            both = change(inputs[torch.cat([rows, drawn(len(inputs), self.unlabelled_batch)])])
            scores = network(both)
            scored, free = scores[: self.batch], scores[self.batch :]
            alike = adversarial_divergence(network, both[self.batch :], free, radius=self.radius)
            return (
                functional.cross_entropy(scored, known[rows])
                + reached * self.smoothness * alike
                + reached * self.sureness * entropy(free)
            )

        self.network = trained(self, loss)
        return self


def adversarial_divergence(network: Any, inputs: Any, scores: Any, *, radius: float) -> Any:
    """Mean Kullback-Leibler divergence where moving inputs by `radius` changes probabilities most, nearly.

    It has a gradient. One step of the power method finds the direction: the gradient of the divergence a little away
    from the input. `scores` are those of the inputs and are used without a gradient.
    """
    import torch
    from torch.nn import functional

    fixed = scores.detach().softmax(dim=1)

    def divergence(moved: Any) -> Any:
        return functional.kl_div(network(moved).log_softmax(dim=1), fixed, reduction="batchmean")

    direction = _unit(torch.randn_like(inputs)).requires_grad_()
    (steepest,) = torch.autograd.grad(divergence(inputs.detach() + _PROBE * direction), direction)
    return divergence(inputs.detach() + radius * _unit(steepest))


def entropy(scores: Any) -> Any:
    """Mean entropy of the probabilities of scores, in nats."""
    return -(scores.softmax(dim=1) * scores.log_softmax(dim=1)).sum(dim=1).mean()


def _unit(vectors: Any) -> Any:
    """Each input's vector at length one; the zero vector stays."""
    lengths = vectors.flatten(1).norm(dim=1).clamp_min(1e-12)
    return vectors / lengths.view(-1, *[1] * (vectors.dim() - 1))
