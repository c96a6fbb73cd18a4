"""A network as it is when it is evaluated, for measurements beside its training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def evaluating(network: Any) -> Iterator[None]:
    """Dropout draws no number and a normalisation of batches learns nothing while the block runs."""
    training = [module for module in network.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True
