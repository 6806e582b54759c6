"""A labeling session that remembers: one folder with its settings and its history."""
