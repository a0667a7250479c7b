from .predict import plan as plan
from .predict import required_privacy as required_privacy
from .rows import LeftOut as LeftOut
from .rows import Plan as Plan
from .rows import PlanRow as PlanRow
