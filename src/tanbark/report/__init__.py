"""Self-contained HTML reports on fitted classifiers."""

from tanbark.report.report import write_report

__all__ = ["write_report"]
