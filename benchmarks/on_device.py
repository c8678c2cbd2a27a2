"""Check the CUDA engine against the CPU, then time it: run on a machine with a device.

python benchmarks/on_device.py check      candidates of the two engines are equal
python benchmarks/on_device.py time BITS  a whole binade of exp, stage by stage
"""

import sys
import time
from collections.abc import Iterator

from gmpy2 import mpq

from hrcase.domain import split
from hrcase.engine.cpu import CpuEngine
from hrcase.engine.cuda import CudaEngine
from hrcase.formats import FORMATS, Format, scale
from hrcase.memory import search
from hrcase.pieces import Rule
from hrcase.plan import PlannedBlock, Tuning, plan
from hrcase.spec import SearchSpec, exponent_range, interval

TOY = Format("toy24", 24, -30, 30)


def specs() -> Iterator[tuple[SearchSpec, Tuning]]:
    """Slices of every kind: flat, steep, curved either way, inflections, many candidates."""
    double, single = FORMATS["binary64"], FORMATS["binary32"]
    for name, exponent, width in (
        ("exp", 0, -12),
        ("exp", -20, -6),
        ("exp", -45, -5),
        ("exp", 8, -14),
        ("sin", 0, -12),
        ("sin", 1, -13),
        ("log", 1, -12),
        ("cbrt", 5, -12),
        ("exp2", -1, -12),
    ):
        lo = scale(1, exponent)
        region = interval(double, lo, lo * (1 + scale(1, width)), "")
        yield SearchSpec(name, double, double, 40, "all", region), Tuning()
    for name in ("exp", "log", "sin", "cbrt", "exp2"):
        for form, bits in ((single, 15), (single, 20), (TOY, 6), (TOY, 12)):
            region = exponent_range(form, 1, 1, "both" if name in ("sin", "cbrt") else "positive")
            yield SearchSpec(name, form, form, bits, "nearest", region), Tuning(7)


def blocks(spec: SearchSpec, tuning: Tuning) -> Iterator[PlannedBlock]:
    """The blocks of a search."""
    for piece in split(spec):
        if piece.rule is Rule.SEARCHED:
            yield from plan(spec, piece, tuning)


def methods(part: PlannedBlock) -> tuple[str, ...]:
    """What to compare on a block: Lefevre's test walks point by point where slopes are tiny."""
    if part.block is None or part.method == "scan":
        return ("scan",)
    return ("regular", "lefevre") if part.block.domain_log2 <= 10 else ("regular",)


def check() -> None:
    """Compare the candidates of both engines, block by block."""
    cpu, cuda = CpuEngine(), CudaEngine()
    print("on", cuda.name)
    total = compared = 0
    for spec, tuning in specs():
        found = 0
        for planned in blocks(spec, tuning):
            for part in planned.slices(1 << 17):
                if part.block is None:
                    continue
                for method in methods(part):
                    here, _ = cpu.run(part.block, method)
                    there, _ = cuda.run(part.block, method)
                    assert list(here) == list(there), (spec, part, method)
                    compared += 1
                    found += len(here)
        print(spec.function_name, spec.inp.name, spec.bits, found, "candidates equal", flush=True)
        total += found
    cuda.close()
    print("EQUAL:", compared, "runs,", total, "candidates")


def time_binade(bits: int, exponent: int, method: str, share: mpq) -> None:
    """Search a share of the binade [2^exponent, 2^(exponent+1)) and print every stage."""
    double = FORMATS["binary64"]
    lo = scale(1, exponent)
    spec = SearchSpec(
        "exp", double, double, bits, "all", interval(double, lo, lo * (1 + share), "")
    )
    cuda = CudaEngine()
    cuda.timed = True
    started = time.perf_counter()
    result = search(spec, method, engine=cuda)
    seconds = time.perf_counter() - started
    s = result.statistics
    arguments = sum(s.arguments.values())
    print(f"exp [2^{exponent}, 2^{exponent} (1 + {share})) M = {bits} {method}: {seconds:.2f} s")
    print(
        f"  {arguments / seconds:.3g} arguments/s, {len(result.cases)} cases, expected "
        f"{s.expected:.0f}, {dict(s.counts)}"
    )
    print("  host seconds", {k: round(v, 2) for k, v in s.seconds.items()})
    cuda.close()
    print("  device seconds", {k: round(v, 3) for k, v in cuda.stage_seconds.items()}, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check()
    else:
        time_binade(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], mpq(sys.argv[5]))
