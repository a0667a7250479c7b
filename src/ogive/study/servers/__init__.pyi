from .evaluating import Evaluation as Evaluation
from .evaluating import UploadPart as UploadPart
from .evaluating import evaluate_part as evaluate_part
from .evaluating import merge_parts as merge_parts
from .service import serve as serve
