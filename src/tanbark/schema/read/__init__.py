"""Read tables and class columns from arrays, data frames and Arrow data."""
