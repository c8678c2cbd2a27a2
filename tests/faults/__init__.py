"""Faults put into test builds of the kernels, and what becomes of them."""
