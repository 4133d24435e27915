"""Findings, diagnostics, the comments that silence them, and how they are shown."""
