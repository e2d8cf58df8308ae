"""Layouts, pictures and pages."""
