"""Runs programs of threads by an OpenCL driver: `python -m unit.opencl_driver PROGRAM... [--without-barriers]`.

The command is for a process whose driver is another one: Oclgrind tells on stderr which threads race.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

from lamina.backends import opencl
from lamina.runtime.device_program import DeviceProgram
from lamina.runtime.opencl import device, devices

from .gpu_programs import PIPELINE, Program
from .test_gpu_passes import check, lowered

Array = np.ndarray[Any, Any]

needs_driver = pytest.mark.skipif(
    not devices(), reason="no OpenCL device: apt-get install pocl-opencl-icd ocl-icd-libopencl1"
)


def run_program(program: Program, barriers: bool = True) -> list[Array]:
    """The outputs of a program whose sizes are known, by the first device."""
    module = lowered(program, PIPELINE)
    text = opencl.compile_device(module)
    if not barriers:
        text = re.sub(r"barrier\(.*\);", "", text)
    outputs = [np.full(o.shape, -77, o.dtype) for o in program.outputs]
    inputs = [np.ascontiguousarray(i) for i in program.inputs]
    with DeviceProgram(module, text, opencl.kernel_names(module), device()).call([], inputs, outputs) as call:
        call.run()
        call.read()
    return outputs


def main(arguments: list[str]) -> None:
    from .test_gpu_backends import PROGRAMS

    names = [a for a in arguments if not a.startswith("--")]
    for name in names:
        outputs = run_program(PROGRAMS[name], barriers=len(names) == len(arguments))
        if len(names) == len(arguments):
            check(PROGRAMS[name], outputs)
    print(device().name)


if __name__ == "__main__":
    main(sys.argv[1:])
