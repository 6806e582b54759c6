"""Where a pool lives, and the passes over its rows."""
