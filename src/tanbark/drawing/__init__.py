"""Layouts and pictures of networks, SVG figures and HTML pages."""
