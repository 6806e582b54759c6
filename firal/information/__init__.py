"""Fisher information, the ratios that compare two of them, and the excess risk."""
