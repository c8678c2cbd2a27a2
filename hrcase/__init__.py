"""hrcase: the hard-to-round cases of mathematical functions, with proof.

`search`, `read`, `arrays` and `check` are the library (hrcase.library, docs/library.md);
`hrcase.functions.REGISTRY` holds the functions. They are imported on first use, so that
`import hrcase` loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hrcase import functions
    from hrcase.library import arrays, check, read, search
else:

    def __getattr__(name: str) -> object:
        if name == "functions":
            return import_module("hrcase.functions")
        if name in __all__:
            return getattr(import_module("hrcase.library"), name)
        raise AttributeError(f"module 'hrcase' has no attribute {name!r}")


__all__ = ["arrays", "check", "functions", "read", "search"]
