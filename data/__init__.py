"""Data files that the program ships, read by `importlib.resources.files("hrcase.data")`.

Nothing here is a search result that the program could have computed. This module holds no code: it
is here so that an editable install finds the directory, as it finds no directory without Python.
"""
