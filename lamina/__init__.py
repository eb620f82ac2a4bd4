"""Lamina: a deep-learning compiler whose every level is an xDSL dialect and every step a text file.

The public names load on first use, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina import te, topi, torch, transform
    from lamina.driver.api import Executable, Model, compile, export, load
    from lamina.driver.compiled_kernels import evaluate
    from lamina.errors import LaminaError
    from lamina.numpy.grad import grad, value_and_grad
    from lamina.numpy.jit import jit
    from lamina.numpy.vmap import vmap
    from lamina.runtime.exported import ExportedNet
    from lamina.tensor.program import build, lower

__version__ = "0.1.0"

__all__ = [
    "Executable",
    "ExportedNet",
    "LaminaError",
    "Model",
    "__version__",
    "build",
    "compile",
    "evaluate",
    "export",
    "grad",
    "jit",
    "load",
    "lower",
    "te",
    "topi",
    "torch",
    "transform",
    "value_and_grad",
    "vmap",
]

_HOME = {
    **dict.fromkeys(("Executable", "Model", "compile", "export", "load"), "lamina.driver.api"),
    **dict.fromkeys(("build", "lower"), "lamina.tensor.program"),
    "ExportedNet": "lamina.runtime.exported",
    "LaminaError": "lamina.errors",
    "evaluate": "lamina.driver.compiled_kernels",
    **dict.fromkeys(("grad", "value_and_grad"), "lamina.numpy.grad"),
    "jit": "lamina.numpy.jit",
    "vmap": "lamina.numpy.vmap",
}
_SUBPACKAGES = ("te", "topi", "torch", "transform")


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f"lamina.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'lamina' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
