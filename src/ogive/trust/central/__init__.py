"""A trusted curator, who sees all records and adds the noise."""
