"""A pytest plugin: the CPU engine runs kernels built under AddressSanitizer and UBSan."""

from functools import partial

import pytest

from hrcase.toolchain import compile_host

pytest.MonkeyPatch().setattr("hrcase.engine.cpu.compile_host", partial(compile_host, sanitize=True))
