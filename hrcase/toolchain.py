"""Compiles the kernels of `hrcase.cuda` for one shape and keeps what was compiled.

The kernels have their shape (degree, limbs) as compile-time constants, so each shape is its own
binary, made on first use: `host.cpp` by g++ into a shared object, `kernels.cu` by nvcc into a
cubin. A cache entry is named by the SHA-256 of all that it depends on: the text of every source,
the options, the compiler's version and the target. Beside it lies the digest of its bytes: an
entry that does not match it is built anew.

The small programs of other packages (hrcase.libm) are compiled and kept the same way.
"""

import fcntl
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hrcase.disk import is_full_or_fails, sync
from hrcase.errors import NoDevice, TryAgain

_HOST_OPTIONS: tuple[str, ...] = ("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC")
_PROGRAM_OPTIONS = ("-O2", "-std=c11", "-frounding-math")
_SANITIZE_OPTIONS = (
    "-O1",
    "-g",
    "-march=native",
    "-std=c++17",
    "-shared",
    "-fPIC",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
_INSTALL = {
    "g++": 'type "apt-get install g++"',
    "gcc": 'type "apt-get install gcc"',
    "nvcc": "install NVIDIA's CUDA toolkit and put its bin directory on PATH",
}


class ToolchainError(NoDevice):
    """A compiler is missing or cannot compile what it is given."""


@dataclass(frozen=True)
class _Build:
    compiler: str
    source: str
    options: tuple[str, ...]
    suffix: str
    target: str  # what the options leave open: the CPU behind -march=native
    libraries: tuple[str, ...] = ()  # options of the linker, which follow the source


def compile_host(degree: int, limbs: int, sanitize: bool = False) -> Path:
    """The shared object of `host.cpp` for one shape, compiled for this CPU if need be.

    `sanitize` builds it under AddressSanitizer and UBSan: the process that loads it must have
    been started with libasan preloaded. Raises ToolchainError if g++ is missing or fails,
    ValueError for a shape that the kernels do not have.
    """
    options = _SANITIZE_OPTIONS if sanitize else _HOST_OPTIONS
    return _compile(_Build("g++", "host.cpp", options + _shape(degree, limbs), ".so", _this_cpu()))


def compile_device(degree: int, limbs: int, arch: str) -> Path:
    """The cubin of `kernels.cu` for one shape and one architecture, such as "sm_90".

    Raises ToolchainError if nvcc is missing or fails, ValueError for a shape that the kernels do
    not have.
    """
    return _compile_for_device("kernels.cu", arch, *_shape(degree, limbs))


def compile_walks(arch: str) -> Path:
    """The cubin of `walks.cu`, whose kernels have no shape, for one architecture.

    Raises ToolchainError if nvcc is missing or fails.
    """
    return _compile_for_device("walks.cu", arch)


def _compile_for_device(source: str, arch: str, *shape: str) -> Path:
    return _compile(_device_build(source, arch, *shape))


def _device_build(source: str, arch: str, *definitions: str) -> _Build:
    options = (f"-arch={arch}", "-cubin", "-O3", "-std=c++17", *definitions)
    return _Build("nvcc", source, options, ".cubin", arch)


def compile_program(source: Path, options: Sequence[str], libraries: tuple[str, ...]) -> Path:
    """A program made by gcc of one C source, which may include what lies beside it.

    Args:
        libraries: to link with, such as "-lm".

    Raises ToolchainError if gcc is missing or fails.
    """
    options = (*_PROGRAM_OPTIONS, *options)
    build = _Build("gcc", source.name, options, ".bin", platform.machine(), libraries)
    return _compile(build, source.parent)


def compile_cubin(source: Path, arch: str, definitions: Sequence[str]) -> Path:
    """The cubin of one CUDA source for one architecture.

    Raises ToolchainError if nvcc is missing or fails.
    """
    return _compile(_device_build(source.name, arch, *definitions), source.parent)


def compiler_release(compiler: str) -> str:
    """The line in which g++ or nvcc names its release. Raises ToolchainError if it is missing."""
    lines = _version(compiler).splitlines()
    return next((line for line in lines if "release" in line), lines[0])


def cache_directory() -> Path:
    """Where binaries are kept: $HRCASE_CACHE, else hrcase under $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("HRCASE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hrcase"


def source_directory() -> Path:
    """The directory of the kernel sources.

    In an installed package it is hrcase/cuda; in the tree (an editable install included, whose
    import hook does not find directories without Python in them) it stands beside hrcase/.
    """
    package = Path(__file__).resolve().parent
    for directory in (package / "cuda", package.parent / "cuda"):
        if (directory / "host.cpp").is_file():
            return directory
    raise ToolchainError(
        f"the kernel sources are missing: neither {package} nor its parent has cuda/host.cpp, so "
        'the package is incomplete; type "pip install --force-reinstall hrcase"'
    )


@lru_cache
def kernels_digest() -> str:
    """SHA-256 over the sources of the kernels: equal digests, equal kernels."""
    total = hashlib.sha256()
    for path in sorted(source_directory().iterdir()):
        if path.is_file():
            data = path.read_bytes()
            total.update(f"{path.name} {len(data)} ".encode() + data)
    return total.hexdigest()


def _shape(degree: int, limbs: int) -> tuple[str, str]:
    if degree < 1 or limbs < 2:
        raise ValueError(
            f"no kernel of degree {degree} with {limbs} limbs: it takes degree >= 1 and "
            "limbs >= 2; raise the one that is below"
        )
    return f"-DDEGREE={degree}", f"-DLIMBS={limbs}"


def _compile(build: _Build, sources: Path | None = None) -> Path:
    directory = cache_directory()
    sources = source_directory() if sources is None else sources
    entry = directory / (_key(build, sources) + build.suffix)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(entry.with_suffix(".lock")):
            if not _is_whole(entry):
                _make(build, sources, entry)
    except OSError as error:
        kind = TryAgain if is_full_or_fails(error) else ToolchainError
        raise kind(
            f"cannot keep a compiled kernel in {directory}: {error.strerror}; "
            'type "export HRCASE_CACHE=DIRECTORY" with a directory that can be written'
        ) from error
    return entry


def _key(build: _Build, sources: Path) -> str:
    """SHA-256 over everything that the binary depends on, in a form without ambiguity."""
    digest = hashlib.sha256()
    files = sorted(p for p in sources.iterdir() if p.is_file() and p.suffix != ".py")
    parts = [build.source, *build.options, *build.libraries, _version(build.compiler), build.target]
    for path in files:
        parts += [path.name, path.read_text(encoding="utf-8")]
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _make(build: _Build, sources: Path, entry: Path) -> None:
    """Compiles under a temporary name; the entry appears whole, its digest after it.

    A crash in between leaves an entry without its digest, which counts as broken.
    """
    digest_path = _digest_path(entry)
    digest_path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=entry.parent) as temporary:
        binary = Path(temporary) / entry.name
        command = (build.compiler, *build.options, "-o", str(binary), build.source)
        _run_compiler((*command, *build.libraries), sources)
        digest = Path(temporary) / digest_path.name
        digest.write_text(_digest(binary) + "\n", encoding="ascii")
        _keep(binary, entry)
        _keep(digest, digest_path)


def _keep(made: Path, final: Path) -> None:
    sync(made)
    made.replace(final)
    sync(final.parent)


def _is_whole(entry: Path) -> bool:
    try:
        return _digest_path(entry).read_text(encoding="ascii").strip() == _digest(entry)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest_path(entry: Path) -> Path:
    return entry.with_suffix(".sha256")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process or thread at a time; the lock goes with its holder, however that ends."""
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run_compiler(command: Sequence[str], directory: Path) -> str:
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    except FileNotFoundError:
        raise ToolchainError(
            f"no {command[0]} found: hrcase compiles its kernels and small programs on first use "
            f"and needs it on PATH; {_INSTALL[command[0]]}"
        ) from None
    if done.returncode:
        raise ToolchainError(
            f"{command[0]} fails in {directory} (exit status {done.returncode}): "
            f"{_first_error(done.stderr)}; to see it all, type in there: {' '.join(command)}"
        )
    return done.stdout


def _first_error(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else "no message")


@lru_cache
def _version(compiler: str) -> str:
    return _run_compiler((compiler, "--version"), Path.cwd())


@lru_cache
def _this_cpu() -> str:
    """What -march=native stands for here: the model and the instruction sets of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    wanted = ("model name", "flags", "Features", "CPU part")
    described = [line for line in lines if line.startswith(wanted)]
    return "\n".join(sorted(set(described))) or f"{platform.machine()} {platform.processor()}"
