"""Figures to play with: plain SVG and JSON in a page, PNG in print."""
