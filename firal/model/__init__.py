"""The classifier: probabilities, loss, Hessians, fit, separability, theta from scikit-learn."""
