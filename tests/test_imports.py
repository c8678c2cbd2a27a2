"""What loads when: help must be instant and must not need a compiler, a GPU or numpy."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "gmpy2", "flint", "pycuda", "rich"}


def loaded_after(code: str) -> set[str]:
    """The heavy top-level modules that a fresh interpreter has loaded after running `code`."""
    report = "import sys; print(' '.join({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return HEAVY & set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import hrcase",
        "from hrcase.cli.main import run; assert run(['--help']) == 0",
        "from hrcase.cli.main import run; assert run(['--version']) == 0",
        "from hrcase.cli.main import run; assert run(['serch']) == 2",
    ],
)
def test_light_uses_load_nothing_heavy(code: str) -> None:
    assert loaded_after(code) == set()


def test_the_probe_sees_what_a_command_loads() -> None:
    loaded = loaded_after("from hrcase.cli.main import run; run(['compare', '--help'])")
    assert loaded == {"gmpy2", "flint"}
