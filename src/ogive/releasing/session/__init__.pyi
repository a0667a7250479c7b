from .opening import default_adjacency as default_adjacency
from .opening import ledger_file as ledger_file
from .session import Session as Session
from .statement import disclosure as disclosure
from .statement import hidden as hidden
from .statement import left as left
from .statement import statement as statement
