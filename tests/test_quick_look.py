"""The quick look of the device's walk misses no class that is near (lemma 12 of docs/farey.md)."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from hrcase.toolchain import source_directory

SOURCE = Path(__file__).parent / "brute" / "quick_looks.cpp"
TRIES = 500_000
SPOILED = "-DFAREY_SPOIL=-0x1p-19"

BROKEN = {
    "LEMMA_12_BLUR": ("BLUR = 0x1p-16f", "BLUR = 0"),
    "LEMMA_12_ROOT": ("ROOT = 0x1p-19f", "ROOT = 0x1p-23f"),
    "LEMMA_12_FACTOR": ("FACTOR = 1.0001f", "FACTOR = 0.9999f"),
    "LEMMA_12_FARTHEST": ("FARTHEST = 0x1p31", "FARTHEST = 0x1p60"),
    "last mm": ("count <= more &&", "count < more &&"),
}


def count(directory: Path, *options: str, edit: tuple[str, str] = ("", "")) -> tuple[int, int, int]:
    """Of all mm tried: near by `near_class`, missed by the quick look, near for that alone."""
    sources, target = directory / "cuda", directory / "quick_looks.so"
    shutil.copytree(source_directory(), sources)
    header = sources / "farey.cuh"
    if edit[0]:
        assert header.read_text().count(edit[0]) == 1
        header.write_text(header.read_text().replace(*edit))
    gcc = ("g++", "-O1", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    subprocess.run((*gcc, *options, "-I", sources, "-o", target, SOURCE), check=True)
    counts = (ctypes.c_uint64 * 3)()
    arguments = ctypes.c_uint64(5), ctypes.c_uint64(TRIES), counts
    ctypes.CDLL(str(target)).count_quick_looks(*arguments)
    near, missed, more = counts
    return near, missed, more


@pytest.mark.parametrize("spoil", ["0", "0x1p-19", "-0x1p-19"])
def test_no_class_is_missed(tmp_path: Path, spoil: str) -> None:
    near, missed, _ = count(tmp_path, f"-DFAREY_SPOIL={spoil}")
    assert missed == 0
    assert near > TRIES


@pytest.mark.parametrize("name", BROKEN)
def test_each_constant_is_needed(tmp_path: Path, name: str) -> None:
    _, missed, _ = count(tmp_path, SPOILED, edit=BROKEN[name])
    assert missed > 0
