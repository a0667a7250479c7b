"""All trust models at once, for those who go through them; this imports every model."""

from ogive.trust.base import TableModel
from ogive.trust.models import MODELS, model_named

TRUST_MODELS: tuple[type[TableModel], ...] = tuple(map(model_named, MODELS))
"""Those who can hold records of one table."""
