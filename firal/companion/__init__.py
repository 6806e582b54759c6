"""What the notebooks and the book need. Nothing outside this folder imports it."""
