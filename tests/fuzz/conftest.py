"""The parts of the fuzzer import one another as `fuzz.<part>`, here and in `run.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
collect_ignore = ["run.py"]
