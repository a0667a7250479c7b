from .running_total import RunningTotal as RunningTotal
