"""What is run by hand is no test."""

collect_ignore = ["run.py"]
