"""Layouts and drawings of networks, and HTML pages."""
