"""One self-contained page about a fitted classifier."""

from tanbark.report.report import write_report

__all__ = ["write_report"]
