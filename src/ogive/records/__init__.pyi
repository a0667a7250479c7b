from .table import Records as Records
