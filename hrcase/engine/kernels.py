"""The kernels of a device by name, each with the arguments that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# A letter an argument: B a block and R its runs, by value, as bytes; the others as in `struct`.
SHAPED = {
    "clear": "P",
    "expand": "BLP",
    "expand_groups": "BLiP",
    "expand_planted": "BLP",
    "domains_lefevre": "BPLiPLP",
    "domains_regular": "BPLiPLP",
    "subdomains_lefevre": "BPPLPLP",
    "subdomains_regular": "BPPLPLP",
    "scan_subdomains": "BPPLPLP",
    "scan_runs": "BPLLPLP",
    "decide": "BBlPLPLP",
    "check_seams": "BPLP",
}
"""Those of cuda/kernels.cu, compiled for a degree and a number of limbs."""

WALKS = {
    "expand_runs": "RPiP",
    "start_walks": "RPPPLPLP",
    "walk": "PLPLPLP",
    "cross_wide": "RPPLPLP",
    "take_near": "RPPPLPLPLP",
    "take_crowds": "RPPLPLP",
    "check_walks": "RPPP",
}
"""Those of cuda/walks.cu."""

RUNS_BYTES = 48


class Kernels:
    """The kernels of one shape, and those that have none.

    Args:
        shaped, walks: PyCUDA's modules.
        block_bytes: of a block of this shape.
    """

    def __init__(self, shaped: Any, walks: Any, block_bytes: int) -> None:
        self._modules, self._block_bytes = (shaped, walks), block_bytes
        self._calls: dict[str, Callable[..., None]] = {}

    def __getitem__(self, name: str) -> Callable[..., None]:
        """What launches a kernel: called with grid, block, stream and the kernel's arguments."""
        if name not in self._calls:
            shaped, walks = self._modules
            module, letters = (walks, WALKS[name]) if name in WALKS else (shaped, SHAPED[name])
            kinds = letters.replace("B", f"{self._block_bytes}s").replace("R", f"{RUNS_BYTES}s")
            function = module.get_function(name)
            function.prepare((kinds,))
            self._calls[name] = function.prepared_async_call
        return self._calls[name]
