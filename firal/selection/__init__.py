"""The selection problem: relaxation, scores, rounding, BAIT, and Algorithm 1 from end to end."""
