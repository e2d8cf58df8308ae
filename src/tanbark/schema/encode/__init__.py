"""Learn schemas and encode tables as integer codes."""
