"""The terminal: consoles, progress, errors and signals."""
