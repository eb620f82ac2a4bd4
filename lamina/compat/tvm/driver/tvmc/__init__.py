"""`tvm.driver.tvmc`: models compiled into packages, run and tuned, as a command and from Python.

    python -m lamina.compat.tvm.driver.tvmc compile --target llvm -o module.tar model.onnx
    python -m lamina.compat.tvm.driver.tvmc run --inputs x.npz --outputs y.npz module.tar

    model = tvmc.load("model.onnx", shape_dict={"x": [1, 3, 224, 224]})
    records = tvmc.tune(model, target="llvm", trials=64)
    package = tvmc.compile(model, target="llvm", tuning_records=records)
    result = tvmc.run(package, device="cpu")

Options and functions are those of TVM 0.8's. No compiler and no linker is called, for other machines neither.
"""

from __future__ import annotations

from lamina.compat.tvm.driver.tvmc.autotuner import tune_model as tune
from lamina.compat.tvm.driver.tvmc.compiler import compile_model as compile  # noqa: A004
from lamina.compat.tvm.driver.tvmc.frontends import load_model as load
from lamina.compat.tvm.driver.tvmc.model import TVMCModel, TVMCPackage, TVMCResult
from lamina.compat.tvm.driver.tvmc.runner import run_module as run
from lamina.errors import LaminaError as TVMCException

__all__ = ["TVMCException", "TVMCModel", "TVMCPackage", "TVMCResult", "compile", "load", "run", "tune"]
