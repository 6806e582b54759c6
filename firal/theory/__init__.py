"""What the theorems need: bounds, Orlicz norms, second-order risk, synthetic designs."""
