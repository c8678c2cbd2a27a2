"""Checking results without the code that found them.

Nothing here imports the engines, the planner or what splits a search: a test says so. What is
shared: number formats, the registry of functions with its evaluators (MPFR and Arb), the words of
the claim. docs/certificate.md says what each check rests on.
"""
