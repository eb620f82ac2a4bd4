"""`import tvm.topi`: the module `lamina.topi` itself."""

import sys

import lamina.topi

sys.modules[__name__] = lamina.topi
