"""Making the prepared pools of the paper: images, features, embedding, one checked file."""
