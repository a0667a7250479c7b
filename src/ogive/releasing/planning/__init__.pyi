from .inverse import required_privacy as required_privacy
from .predict import plan as plan
from .rows import LeftOut as LeftOut
from .rows import Plan as Plan
from .rows import PlanRow as PlanRow
