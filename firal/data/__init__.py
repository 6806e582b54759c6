"""Pools, tables of users, array files, and the spectral embedding."""
