"""Learn the schema of the rows of a source."""

from __future__ import annotations

from collections.abc import Sequence

from tanbark.kernels.runtime.threads import feed, resolve_n_jobs
from tanbark.progress import Progress
from tanbark.schema import Encoder, Survey
from tanbark.sources.arrow_streams import merge_small_batches
from tanbark.sources.source import Source, SourceError


def survey_rows(
    source: Source,
    target: str,
    encoder: Encoder | None = None,
    ignore: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Return a survey of all rows, from which an encoder learns the schema.

    Levels and ranges need one pass. Exact quantiles of a column with more than 2**16 distinct numbers need two or three
    more, which read only such columns.
    """
    if source.once:
        raise SourceError(
            "these rows can be read only once, but learning their schema takes a separate pass; provide schema=, or a "
            "source that can be read again, such as a function that returns the rows"
        )
    if not source.schema.names:
        raise SourceError("there are no rows to learn a schema from; provide schema=")
    survey = Survey(encoder, target, source.schema, ignore)
    threads = resolve_n_jobs(n_jobs)
    number = 0
    again = True
    while again:
        number += 1
        stage = "finding levels" if number == 1 else f"finding cut points, pass {number}"
        workers = [survey.fresh() for _ in range(threads)]
        seen = 0
        for part in feed(Survey.see, merge_small_batches(source.batches(survey.names)), workers):
            seen += part.num_rows
            if progress is not None:
                progress(stage, seen, source.total)
        for worker in workers:
            survey.merge(worker)
        again = survey.settle()
    return survey
