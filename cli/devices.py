"""hrcase devices: what there is to compute on."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from hrcase.engine.devices import Compiler, CudaDevice, CudaPlatform, Processor
from hrcase.engine.devices import cuda_platform as look_for_cuda
from hrcase.engine.devices import processor as look_at_processor


@click.command(name="devices")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(as_json: bool) -> None:
    """List what --device can name, with the compilers, or why it cannot be used.

    "ready" means that the kernels can be compiled and run. A CUDA device proves itself in a
    self-test on its first use.
    """
    cpu, cuda = look_at_processor(), look_for_cuda()
    if as_json:
        click.echo(json.dumps({"cpu": asdict(cpu), "cuda": asdict(cuda)}))
        return
    for line in [*_processor_lines(cpu), *_cuda_lines(cuda)]:
        click.echo(line)


def _processor_lines(cpu: Processor) -> Iterator[str]:
    yield f"cpu        {_state(cpu.compiler)}"
    yield f"  model       {cpu.model}"
    yield f"  threads     {cpu.threads}"
    yield f"  has         {' '.join(cpu.instruction_sets) or 'none of the sets that matter'}"
    yield f"  compiler    {cpu.compiler.release or 'none'}"


def _cuda_lines(cuda: CudaPlatform) -> Iterator[str]:
    if cuda.problem is not None:
        yield f"cuda       cannot be used: {cuda.problem}"
    for device in cuda.devices:
        yield from _device_lines(device, cuda.compiler)
    if cuda.driver is not None:
        yield f"  driver      CUDA {cuda.driver}, PyCUDA {cuda.pycuda}"
    yield f"  compiler    {cuda.compiler.release or cuda.compiler.problem}"


def _device_lines(device: CudaDevice, compiler: Compiler) -> Iterator[str]:
    problem = device.problem
    state = _state(compiler) if problem is None else f"cannot be used: {problem}"
    gib = 1 << 30
    yield f"cuda:{device.ordinal}     {state}"
    yield f"  name        {device.name}"
    yield f"  capability  {'.'.join(map(str, device.capability))}"
    yield f"  processors  {device.multiprocessors} multiprocessors, {device.clock_mhz:.0f} MHz"
    yield (
        f"  memory      {device.memory_free / gib:.1f} GiB free of {device.memory_total / gib:.1f}"
    )


def _state(compiler: Compiler) -> str:
    return "ready" if compiler.problem is None else f"cannot be used: {compiler.problem}"
