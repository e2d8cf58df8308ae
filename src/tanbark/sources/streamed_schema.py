"""Learn the schema of streamed rows."""

from __future__ import annotations

from collections.abc import Sequence

from tanbark.kernels.runtime.threads import feed, jobs
from tanbark.progress import Progress
from tanbark.schema import Encoder, Survey
from tanbark.sources.arrow_streams import gathered
from tanbark.sources.source import Source, SourceError


def survey_rows(
    source: Source,
    target: str,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Return what all rows tell an encoder, which go by as often as it takes.

    Levels and ranges need one pass; exact quantiles of a column with more than 2**16 distinct numbers two or three
    more, in which only such columns are read.
    """
    if source.once:
        raise SourceError(
            "these rows can be read only once, and their schema must be found out first; give schema=, or something "
            "that can be read again, such as a function that returns them anew"
        )
    if not source.schema.names:
        raise SourceError("there are no rows, so that nothing is known of their columns; give schema=")
    survey = Survey(encoder, target, source.schema, ignore)
    threads = jobs(n_jobs)
    number = 0
    again = True
    while again:
        number += 1
        what = "looking for levels" if number == 1 else f"looking for cut points, pass {number}"
        workers = [survey.fresh() for _ in range(threads)]
        seen = 0
        for part in feed(Survey.see, gathered(source.batches(survey.names)), workers):
            seen += part.num_rows
            if progress is not None:
                progress(what, seen, source.total)
        for worker in workers:
            survey.merge(worker)
        again = survey.settle()
    return survey
