"""Brute force: what a search must find, computed without the search."""
