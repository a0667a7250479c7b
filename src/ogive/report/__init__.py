"""Self-contained HTML of one or many releases: what was found, how far off it may be, and at what price."""

from ogive.report.page import chart_svg, render_report, summarize, write_report

__all__ = ["chart_svg", "render_report", "summarize", "write_report"]
