"""Kernels built from tensor programs: called on arrays, timed, and read at every level.

fadd = lamina.build(s, [A, B, C], target="llvm", name="myadd")
fadd(a, b, c)                                        # writes c
fadd.time_evaluator(fadd.entry_name, lamina.cpu(0))(a, b, c).mean
print(fadd.get_source("asm"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Block, Region

from lamina.dialects.dtypes import numpy_dtype
from lamina.dialects.index_map import IndexMap, IndexMapAttr
from lamina.dialects.linear import Linear
from lamina.dialects.sizes import SHAPE
from lamina.dialects.te.ops import CallOp
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.measure import Benchmark
from lamina.runtime.compiled import CompiledProgram, load_module
from lamina.te.emit import affine
from lamina.te.expr import Var
from lamina.te.function import TensorFunction
from lamina.te.tensor import Tensor

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

    Array = np.ndarray[Any, np.dtype[Any]]

FORMATS = ("te", "tir", "llvm", "ll", "asm")
"""What `get_source` gives: the program at each level, LLVM assembly, machine code."""


def add_program(module: ModuleOp, function: TensorFunction) -> None:
    """Add a function that calls a program's kernel, from which the stairs make what runs."""
    func = function.func
    types = list(func.function_type.inputs)
    block = Block(arg_types=types)
    for mine, its in zip(block.args, func.body.block.args, strict=True):
        mine.name_hint = its.name_hint
    results = list(func.function_type.outputs)
    call = CallOp.make(func.sym_name.data, block.args, results)
    block.add_ops([call, MainReturnOp(*call.results)])
    positions = {v: Linear.dim(n) for n, v in enumerate(function.sizes)}

    def described(name: str, shape: Sequence[Any]) -> DictionaryAttr:
        forms = tuple(affine(e, positions) for e in shape)
        data: dict[str, Attribute] = {"lamina.name": StringAttr(name)}
        if any(not f.is_constant for f in forms):
            data[SHAPE] = IndexMapAttr(IndexMap(len(positions), forms))
        return DictionaryAttr(data)

    names = [a.name_hint or f"arg{n}" for n, a in enumerate(block.args)]
    shapes = [*([()] * len(function.sizes)), *(i.shape if isinstance(i, Tensor) else () for i in function.inputs)]
    main = MainOp(f"call_{func.sym_name.data}", FunctionType.from_lists(types, results), Region(block))
    main.properties["arg_attrs"] = ArrayAttr([described(n, s) for n, s in zip(names, shapes, strict=True)])
    outputs = [described(_output_name(t, names, n), t.shape) for n, t in enumerate(function.outputs)]
    main.properties["res_attrs"] = ArrayAttr(outputs)
    module.body.block.add_op(main)


def _output_name(tensor: Tensor, taken: Sequence[str], position: int) -> str:
    return tensor.name if tensor.name not in taken else f"{tensor.name}.{position}"


@dataclass(frozen=True)
class Timing(Benchmark):
    """Seconds of a call, one figure for each repeat: the mean of its runs."""

    @property
    def results(self) -> tuple[float, ...]:
        return self.times

    @property
    def mean(self) -> float:
        return float(np.mean(self.times))

    @property
    def min(self) -> float:
        return min(self.times)

    @property
    def max(self) -> float:
        return max(self.times)

    @property
    def std(self) -> float:
        return float(np.std(self.times))


class Module:
    """A kernel. Called on arrays (and numbers for sizes and scalars) in the order of its arguments, it writes outputs.

    An array is anything with numpy's interface; an output must be a numpy array that can be written.
    """

    def __init__(self, source: ModuleOp, function: TensorFunction, args: Sequence[Any], target: TargetAttr) -> None:
        """`source` is the module of the te level; it is not changed."""
        self.entry_name = function.func.sym_name.data
        self.target = target
        self.type_key = "llvm"
        self.imported_modules: list[Module] = []
        self._source = source.clone()
        self._function = function
        self._args = list(args)
        self._texts: dict[str, str] = {}
        self._program = self._compile()

    # -- running ---------------------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> None:
        """Run once. Raises LaminaError for a wrong number, dtype, rank or shape of arguments."""
        inputs, outputs, copies = self._bound(args)
        self._program.run_into(inputs, outputs)
        for target, source in copies:
            target[...] = source

    def time_evaluator(
        self,
        func_name: str | None = None,
        dev: Any = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        **_: Any,
    ) -> Callable[..., Timing]:
        """What times calls: each of `repeat` figures is the mean of `number` runs, of more below `min_repeat_ms`."""
        self[func_name or self.entry_name]

        def evaluate(*args: Any) -> Timing:
            inputs, outputs, _ = self._bound(args)
            self._program.run_into(inputs, outputs)
            times: list[float] = []
            runs = max(number, 1)
            while len(times) < max(repeat, 1):
                start = perf_counter()
                for _ in range(runs):
                    self._program.run_into(inputs, outputs)
                seconds = perf_counter() - start
                if seconds * 1e3 < min_repeat_ms:
                    runs = max(runs + 1, int(runs * min_repeat_ms / max(seconds * 1e3, 1e-3)) + 1)
                    continue
                times.append(seconds / runs)
            return Timing(tuple(times))

        return evaluate

    def get_function(self, name: str) -> Module:
        """The kernel by its name."""
        if name not in (self.entry_name, "__tvm_main__", "default_function", "main"):
            raise UsageError(f"no function {name!r}; this module holds {self.entry_name!r}")
        return self

    __getitem__ = get_function

    @property
    def entry_func(self) -> Module:
        return self

    # -- reading ---------------------------------------------------------------------------------------------

    def get_source(self, fmt: str = "ll") -> str:
        """The program at a level: `te`, `tir`, `llvm`, `ll` (LLVM assembly) or `asm` (machine code)."""
        fmt = {"": "ll", "s": "asm"}.get(fmt, fmt)
        if fmt not in FORMATS:
            raise UsageError(f"no format {fmt!r}", hint=did_you_mean(fmt, list(FORMATS)) or f"there are {FORMATS}")
        if fmt not in self._texts:
            self._make_texts()
        return self._texts[fmt]

    def _make_texts(self) -> None:
        from lamina.backends.cpu.jit import assembly
        from lamina.backends.llvm.emit import emit_module
        from lamina.compiler import LLVM_PIPELINE, TIR_PIPELINE, module_text
        from lamina.tensor_program import run_passes

        module = self._source.clone()
        self._texts["te"] = module_text(module)
        self._texts["tir"] = module_text(run_passes(module, TIR_PIPELINE))
        self._texts["llvm"] = module_text(run_passes(module, LLVM_PIPELINE))
        self._texts["ll"] = emit_module(module, self.target)
        self._texts["asm"] = assembly(self._texts["ll"], self.target)

    def _compile(self) -> CompiledProgram:
        from lamina.compiler import LLVM_PIPELINE, TIR_PIPELINE, quiet_gc
        from lamina.tensor_program import run_passes

        with quiet_gc():
            module = run_passes(self._source.clone(), [*TIR_PIPELINE, *LLVM_PIPELINE])
        return load_module(module, None, self.target)

    # -- arguments -------------------------------------------------------------------------------------------

    def _bound(self, args: Sequence[Any]) -> tuple[list[Array], list[Array], list[tuple[Array, Array]]]:
        """Checked inputs and outputs in the program's order, and the outputs to copy to their arrays afterwards."""
        if len(args) != len(self._args):
            names = ", ".join(a.name for a in self._args)
            raise InputError(f"{self.entry_name} takes {len(self._args)} arguments ({names}), got {len(args)}")
        arrays = [_as_array(v) if isinstance(a, Tensor) else v for a, v in zip(self._args, args, strict=True)]
        given = self._sizes(arrays)
        names = [p.name for p in self._program.info.inputs]
        first = len(self._function.sizes)
        for name, item in zip(names[first:], self._function.inputs, strict=True):
            value = arrays[_position(self._args, item)]
            given[name] = value if isinstance(item, Tensor) else np.asarray(value, numpy_dtype(item.dtype))
        inputs = self._program.check(given)
        sizes = self._program.sizes(inputs)
        outputs: list[Array] = []
        copies: list[tuple[Array, Array]] = []
        for port, tensor in zip(self._program.info.outputs, self._function.outputs, strict=True):
            position = _position(self._args, tensor)
            given_array = getattr(args[position], "numpy_view", args[position])
            where = f"output {tensor.name!r}"
            described = port.describe(self._program.info.sizes)
            if not isinstance(given_array, np.ndarray):
                raise InputError(f"{type(given_array).__name__} given, {described} to write expected", where=where)
            array = cast("Array", given_array)
            if array.dtype != numpy_dtype(port.dtype):
                raise InputError(f"{array.dtype.name} given, {port.dtype} expected", where=where)
            if array.shape != port.shape_for(sizes):
                wanted = list(port.shape_for(sizes))
                raise InputError(f"shape {list(array.shape)} given, {wanted} expected", where=where)
            if not array.flags.writeable:
                raise InputError("the array cannot be written", where=where)
            if array.flags.c_contiguous:
                outputs.append(array)
            else:
                outputs.append(np.empty(array.shape, array.dtype))
                copies.append((array, outputs[-1]))
        for n, output in enumerate(outputs):  # what is read must not change while it is read
            for m, array in enumerate(inputs):
                if np.may_share_memory(array, output) and np.shares_memory(array, output):
                    inputs[m] = array.copy()
            for other in outputs[:n]:
                if np.may_share_memory(other, output) and np.shares_memory(other, output):
                    raise InputError("two outputs share memory", where=f"call of {self.entry_name}")
        return inputs, outputs, copies

    def _sizes(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """The sizes that the arguments tell: given as numbers, else solved from an extent of an array."""
        names = [p.name for p in self._program.info.inputs]
        found: dict[str, Any] = {}
        for position, (name, size) in enumerate(zip(names, self._function.sizes, strict=False)):
            for a, value in zip(self._args, arrays, strict=True):
                if a is size:
                    found[name] = value
                elif name not in found and isinstance(a, Tensor) and np.ndim(value) == a.ndim:
                    solved = _solved(a, np.shape(value), size, position, self._function.sizes)
                    if solved is not None:
                        found[name] = solved
        return found


def _solved(tensor: Tensor, shape: Sequence[int], size: Var, position: int, sizes: Sequence[Var]) -> int | None:
    """The size for which a tensor has a shape, where one of its extents is a form of that size alone."""
    positions: Mapping[Var, Linear] = {v: Linear.dim(n) for n, v in enumerate(sizes)}
    for extent, known in zip(tensor.shape, shape, strict=True):
        form = affine(extent, positions)
        coef = form.terms.get(position)
        if coef and len(form.terms) == 1 and (known - form.const) % coef == 0:
            return (known - form.const) // coef
    return None


def _position(args: Sequence[Any], wanted: Any) -> int:
    return next(n for n, a in enumerate(args) if a is wanted)


def _as_array(value: Any) -> Any:
    """An argument as a numpy array that shares its memory, where that is possible."""
    value = getattr(value, "numpy_view", value)
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as e:
        raise InputError(f"not an array: {' '.join(str(e).split())[:120]}") from None
