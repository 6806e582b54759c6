"""Shared by all layers: input checks, BLAS threads, progress, blocks of points, matrices."""
