"""Self-contained HTML of one or many releases: results, accuracy and price."""

from ogive.report.page import chart_svg, render_report, summarize, write_report

__all__ = ["chart_svg", "render_report", "summarize", "write_report"]
