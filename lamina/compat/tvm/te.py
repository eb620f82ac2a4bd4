"""`import tvm.te`: the module `lamina.te` itself."""

import sys

import lamina.te

sys.modules[__name__] = lamina.te
