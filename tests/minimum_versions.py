"""Print the oldest versions that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def oldest(requirements: Iterable[str]) -> Iterator[str]:
    """Yield a constraint for each requirement that says how old a package may be.

    >>> list(oldest(["numpy>=2.0", "tanbark[papers]", "dask[dataframe]>=2025.1"]))
    ['numpy==2.0', 'dask==2025.1']
    """
    for requirement in requirements:
        found = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
        if found:
            yield f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text())["project"]
    extras = project["optional-dependencies"].values()
    print(*oldest([*project["dependencies"], *(one for extra in extras for one in extra)]), sep="\n")
