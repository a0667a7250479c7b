from .boxplot import boxplot as boxplot
from .describe import describe as describe
from .ecdf import ecdf as ecdf
from .find_bounds import find_bounds as find_bounds
from .hosmer_lemeshow import hosmer_lemeshow as hosmer_lemeshow
from .quantiles import quantiles as quantiles
from .roc import roc as roc
from .ustatistic import ustatistic as ustatistic
