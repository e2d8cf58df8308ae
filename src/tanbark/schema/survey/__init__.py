"""Learning a schema from streamed rows."""
