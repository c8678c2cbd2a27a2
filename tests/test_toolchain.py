"""The compile cache: what an entry depends on, and that a broken one is never used."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hrcase import toolchain
from hrcase.errors import HrcaseError
from hrcase.toolchain import ToolchainError, compile_device, compile_host


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HRCASE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the kernel sources that a test may change."""
    copy = tmp_path / "sources"
    shutil.copytree(toolchain.source_directory(), copy)
    monkeypatch.setattr(toolchain, "source_directory", lambda: copy)
    return copy


def words_of_a_block(library: Path) -> int:
    return int(ctypes.CDLL(str(library)).block_words())


def test_the_second_time_nothing_is_compiled(cache: Path) -> None:
    first = compile_host(2, 2)
    assert first.parent == cache
    made = first.stat().st_mtime_ns
    assert compile_host(2, 2) == first
    assert first.stat().st_mtime_ns == made
    assert sorted(path.suffix for path in cache.iterdir()) == [".lock", ".sha256", ".so"]


def test_each_shape_is_its_own_entry(cache: Path) -> None:
    small, large = compile_host(2, 2), compile_host(3, 4)
    assert small != large
    # (D + 1) coefficients and a window of L limbs, and eight words
    assert words_of_a_block(small) == 4 * 2 + 8
    assert words_of_a_block(large) == 5 * 4 + 8


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "no digest", "bad digest"])
def test_a_broken_entry_is_built_again(cache: Path, damage: str) -> None:
    entry = compile_host(2, 2)
    whole = entry.read_bytes()
    digest = entry.with_suffix(".sha256")
    if damage == "cut":
        entry.write_bytes(whole[: len(whole) // 2])
    elif damage == "flipped":
        entry.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    elif damage == "gone":
        entry.unlink()
    elif damage == "no digest":
        digest.unlink()
    else:
        digest.write_bytes(b"\xff\xfe")
    assert compile_host(2, 2) == entry
    assert toolchain._digest(entry) == digest.read_text(encoding="ascii").strip()
    assert words_of_a_block(entry) == 16


def test_the_key_depends_on_every_source(cache: Path, sources: Path) -> None:
    entries = {compile_host(2, 2)}
    for name in ("regular.cuh", "port.h", "host.cpp"):
        path = sources / name
        path.write_text(path.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
        entries.add(compile_host(2, 2))
    assert len(entries) == 4


def test_the_key_depends_on_compiler_and_cpu(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {compile_host(2, 2)}
    monkeypatch.setattr(toolchain, "_this_cpu", lambda: "another CPU")
    entries.add(compile_host(2, 2))
    monkeypatch.setattr(toolchain, "_version", lambda compiler: "another version")
    entries.add(compile_host(2, 2))
    assert len(entries) == 3


def test_many_at_once_make_one_entry(cache: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        entries = set(pool.map(lambda _: compile_host(2, 2), range(4)))
    assert len(entries) == 1
    assert words_of_a_block(entries.pop()) == 16


def test_without_a_compiler_the_error_says_what_to_install(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    toolchain._version.cache_clear()
    with pytest.raises(ToolchainError, match=r'no g\+\+ found.*"apt-get install g\+\+"'):
        compile_host(2, 2)
    with pytest.raises(ToolchainError, match=r"no nvcc found.*CUDA toolkit"):
        compile_device(2, 2, "sm_90")
    assert issubclass(ToolchainError, HrcaseError)


def test_a_source_that_does_not_compile_is_reported(cache: Path, sources: Path) -> None:
    (sources / "host.cpp").write_text("int broken(", encoding="utf-8")
    with pytest.raises(ToolchainError, match=r"error: .*to see it all, type in"):
        compile_host(2, 2)
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_a_cache_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a directory", encoding="ascii")
    monkeypatch.setenv("HRCASE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ToolchainError, match="HRCASE_CACHE=DIRECTORY"):
        compile_host(2, 2)


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HRCASE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert toolchain.cache_directory() == tmp_path / "hrcase"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert toolchain.cache_directory() == tmp_path / ".cache" / "hrcase"


@pytest.mark.parametrize(("degree", "limbs"), [(0, 2), (3, 1)])
def test_shapes_without_a_kernel_are_refused(degree: int, limbs: int) -> None:
    with pytest.raises(ValueError, match="no kernel"):
        compile_host(degree, limbs)


def test_device_code_compiles_once(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in for nvcc that writes its own arguments: options and caching."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 1.0 && exit\n'
        'while [ "$1" != -o ]; do all="$all $1"; shift; done\necho "$all" >> "$2"\n',
        encoding="ascii",
    )
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    toolchain._version.cache_clear()
    cubin = compile_device(6, 5, "sm_90")
    assert compile_device(6, 5, "sm_90") == cubin != compile_device(6, 5, "sm_80")
    options = cubin.read_text(encoding="ascii").split()
    assert {"-arch=sm_90", "-cubin", "-DDEGREE=6", "-DLIMBS=5"} <= set(options)
    assert options.count("-cubin") == 1
    toolchain._version.cache_clear()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize(("degree", "limbs"), [(3, 2), (6, 4), (6, 6)])
def test_device_kernels_use_no_local_memory(tmp_path: Path, degree: int, limbs: int) -> None:
    options = ["-arch=sm_90", "-cubin", "-std=c++17", "-Werror", "all-warnings", "-Xptxas", "-v"]
    shape = [f"-DDEGREE={degree}", f"-DLIMBS={limbs}"]
    output = str(tmp_path / "kernels.cubin")
    done = subprocess.run(
        ["nvcc", *options, *shape, "-o", output, "kernels.cu"],
        cwd=toolchain.source_directory(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    frames = [line.strip() for line in done.stderr.splitlines() if "stack frame" in line]
    assert len(frames) >= 8
    clean = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
    assert set(frames) == {clean}


_SEARCH = """
from hrcase.engine import Block, cpu
from hrcase.toolchain import compile_host
cpu.compile_host = lambda degree, limbs: compile_host(degree, limbs, sanitize=True)
for degree in (1, 6):
    c = (1 << 150, 12345 << 130, 1 << 60, 1, 0, 0, 0)[: degree + 1]
    run_window = (1 << 122) + (1 << 30)  # 2^27 and more is what a cubic of 128 bits leaves out
    block = Block(degree, 3, c, 1 << 186, -777, 9999, 10, run_window, 7, (1 << 59, 1 << 59))
    for method in ("scan", "lefevre", "regular"):
        assert len(cpu.run(block, method)[0]) > 0
"""


def test_a_search_is_clean_under_the_sanitizers(cache: Path) -> None:
    libasan = subprocess.run(
        ["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(libasan).is_absolute():
        pytest.skip("this g++ has no AddressSanitizer")
    environment = os.environ | {"LD_PRELOAD": libasan, "ASAN_OPTIONS": "detect_leaks=0"}
    root = Path(toolchain.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH], env=environment, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
