"""Input of commands: options, sources and columns."""
