from .account import Account as Account
from .account import Reservation as Reservation
from .entries import Entry as Entry
from .ledger import Ledger as Ledger
