"""All statistics at once, for those who go through them; this imports every statistic."""

from ogive.statistics.kinds import all_statistics

STATISTICS = all_statistics()
"""What can be asked of records."""
