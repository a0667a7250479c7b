"""What a release would cost and how far off it would be, predicted before anything is spent."""

from ogive.planning.inverse import required_privacy
from ogive.planning.predict import plan
from ogive.planning.rows import LeftOut, Plan, PlanRow

__all__ = ["LeftOut", "Plan", "PlanRow", "plan", "required_privacy"]
