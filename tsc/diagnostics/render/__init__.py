"""Renderers of diagnostics: one module a format, each with one function `render`."""
