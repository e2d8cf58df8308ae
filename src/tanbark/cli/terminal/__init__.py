"""Running commands in a terminal."""
