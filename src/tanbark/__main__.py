"""The entry point of ``python -m tanbark``."""

from tanbark.cli import run

if __name__ == "__main__":
    run()
