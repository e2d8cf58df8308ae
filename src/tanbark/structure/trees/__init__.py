"""Trees and forests over the attributes."""
