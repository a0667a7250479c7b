"""Running totals of a stream under continual observation."""

from ogive.streams.running_total import RunningTotal

__all__ = ["RunningTotal"]
