"""Torch networks as learners, on the processor: trained by steps, averaged over them, evaluated in batches.

A network takes a batch of inputs and gives a score for each class (a logit). It is made by a function without
arguments, after the random state was set, and trained under that random state; the caller's own stays as it was. Steps,
rates and sizes are fixed beforehand: nothing here looks at data to know when to stop.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress, array_of
from ogive.errors import DataError, ParameterError, quoted

_ROWS_AT_ONCE = 1024
_WARM = 0.1
_FALLING = 0.5


def check_torch() -> None:
    """Ask for torch."""
    if importlib.util.find_spec("torch") is None:
        raise ParameterError("networks are trained with torch, which is not installed; pip install 'ogive[students]'")


def perceptron(inputs: int, classes: int, *, hidden: tuple[int, ...] = (256, 128)) -> Any:
    """A network of fully connected layers for inputs of shape (rows, inputs)."""
    check_torch()
    from torch import nn

    sizes = (inputs, *hidden)
    layers = [layer for a, b in itertools.pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], classes))


def convolutional(classes: int, *, channels: int = 1) -> Any:
    """A small network for images of shape (rows, channels, height, width), each side at least 8 pixels.

    It uses group normalization, not batch normalization, so the scores of an input do not depend on other inputs.
    """
    check_torch()
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(channels, 24, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(24, 48, 3, padding=1),
        nn.GroupNorm(6, 48),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(48, 64, 3, padding=1),
        nn.GroupNorm(8, 64),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(3),
        nn.Flatten(),
        nn.Linear(576, 128),
        nn.ReLU(),
        nn.Linear(128, classes),
    )


class NetworkModel:
    """What networks that were trained under fixed parameters predict; a base of dataclasses with `network`."""

    network: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The fields that an instance is made with, as scikit-learn's `clone` asks for them."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Any:
        """Set some of them."""
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    @property
    def classes_(self) -> Int64:
        """The classes that it gives scores for: as many as its last layer has."""
        *_, last = (each.shape[0] for each in self.network.parameters())
        return np.arange(last, dtype=np.int64)

    def predict_proba(self, features: Any) -> Float64:
        """Probabilities, shape (rows, classes)."""
        import torch

        with torch.no_grad():
            parts = [self.network(part).double().softmax(dim=1) for part in tensor(features).split(_ROWS_AT_ONCE)]
        return np.asarray(torch.cat(parts).numpy(), dtype=np.float64)

    def predict(self, features: Any) -> Int64:
        """Labels, shape (rows,)."""
        return np.asarray(self.predict_proba(features).argmax(axis=1), dtype=np.int64)


@dataclass(eq=False)
class NetworkLearner(NetworkModel):
    """A torch network as a supervised learner, for teachers and for students.

    Args:
        make: Function that makes the network. It must be defined in a module if teachers are stored in a folder.
        steps: Number of training batches.
        batch: Number of labelled inputs in a batch.
        rate: Learning rate, decreasing to zero over the second half of the steps.
        decay: Weight decay.
        augment: Random augmentation of a batch of inputs that preserves classes; None for none.
        random_state: Seed of weights, batches and augmentation.
        progress: Called with the steps done and the steps in all.
    """

    make: Callable[[], Any]
    steps: int = 500
    batch: int = 32
    rate: float = 1e-3
    decay: float = 1e-4
    augment: Callable[[Any], Any] | None = None
    random_state: int = 0
    progress: Progress | None = None
    network: Any = field(default=None, init=False, repr=False)

    def fit(self, features: Any, labels: Any) -> NetworkLearner:
        """Train on inputs of the shape (rows, ...) with labels from 0, shape (rows,)."""
        from torch.nn import functional

        inputs, known = tensor(features), whole_tensor(labels)
        change = self.augment or unchanged

        def loss(network: Any, reached: float) -> Any:
            rows = drawn(len(inputs), self.batch)
            return functional.cross_entropy(network(change(inputs[rows])), known[rows])

        self.network = trained(self, loss)
        return self


def trained(learner: Any, loss: Callable[[Any, float], Any]) -> Any:
    """Train a network to a small loss.

    What is returned is an average of the network over the steps, in which the last ones count most; that is better than
    where the last step happens to end.
    """
    check_torch()
    import torch

    for name in ("steps", "batch"):
        if getattr(learner, name) < 1:
            raise ParameterError(f"`{name}` must be at least 1, got {quoted(getattr(learner, name))}")
    if not learner.rate > 0:
        raise ParameterError(f"`rate` must be above 0, got {quoted(learner.rate)}")
    steps = learner.steps
    memory = 1 - min(1.0, 10 / steps)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(learner.random_state)
        network = learner.make().train()
        optimizer = torch.optim.AdamW(network.parameters(), lr=learner.rate, weight_decay=learner.decay)
        averaging = torch.optim.swa_utils.get_ema_multi_avg_fn(memory)
        average = torch.optim.swa_utils.AveragedModel(network, multi_avg_fn=averaging, use_buffers=True)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = learner.rate * min(1.0, (steps - step) / (_FALLING * steps))
            result = loss(network, min(1.0, step / (_WARM * steps)))
            if not torch.isfinite(result):
                raise DataError("the loss is not a number: the inputs are not finite, or the rate is too high")
            optimizer.zero_grad()
            result.backward()
            optimizer.step()
            average.update_parameters(network)
            if learner.progress is not None:
                learner.progress(step + 1, steps)
        return average.module.eval()


def tensor(features: Any) -> Any:
    """Inputs as 32-bit numbers."""
    import torch

    return torch.from_numpy(np.array(array_of(features), dtype=np.float32))


def whole_tensor(labels: Any) -> Any:
    """Labels as 64-bit whole numbers."""
    import torch

    return torch.from_numpy(np.array(array_of(labels), dtype=np.int64))


def drawn(size: int, number: int) -> Any:
    """Places of a batch, drawn with replacement."""
    import torch

    return torch.randint(size, (number,))


def unchanged(inputs: Any) -> Any:
    """The inputs as they are."""
    return inputs
