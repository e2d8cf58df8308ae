"""Trees over the attributes."""
