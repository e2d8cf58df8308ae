"""Learn a schema from streamed rows in bounded memory."""
