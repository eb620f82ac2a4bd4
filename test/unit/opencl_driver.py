"""The mark of tests that an OpenCL driver runs."""

import pytest

from lamina.runtime.opencl import devices

needs_driver = pytest.mark.skipif(
    not devices(), reason="no OpenCL device: apt-get install pocl-opencl-icd ocl-icd-libopencl1"
)
