"""The builder of Relay functions that importers share: values, and ops that are emitted or folded.

An op whose operands are all known and small is evaluated by its numpy oracle instead of emitted: that is all that
is needed for the chains of Shape, Gather and Concat with which exporters compute the shapes of reshapes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Block, Region, SSAValue

from lamina.dialects.dtypes import itemsize, numpy_dtype, tensor_type
from lamina.dialects.index.symbols import current_symbols
from lamina.dialects.infos import (
    TensorInfo,
    TypeMismatch,
    is_always,
    is_symbolic,
    surely_equal,
    surely_same,
    tensor_info,
)
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp, broadcast_shapes
from lamina.dialects.relay.core import ConstantOp, make_constant
from lamina.dialects.relay.elementwise.unary import CastOp
from lamina.dialects.relay.families import INTEGERS
from lamina.dialects.relay.meaning import np_results, result_infos, symbolic_results
from lamina.dialects.relay.params import INLINE_BYTES, ParamStore
from lamina.dialects.relay.shape.fill import ExtentsOp
from lamina.dialects.relay.shape.views import ReshapeOp
from lamina.dialects.value_names import NAME
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.frontends.frames import Frame
from lamina.frontends.imported import Port

if TYPE_CHECKING:
    from concurrent.futures import Future

    from numpy.typing import NDArray

FOLD_BYTES = 1 << 18
LIMIT = 1 << 34
"""Bytes that a tensor may have where nobody says more: 16 GiB."""
_UNFIT = re.compile(r"[^A-Za-z0-9_]+")
_NUMBERS = re.compile(r"(_[0-9]+)+$")


def function_of(module: ModuleOp) -> func.FuncOp:
    """The one function of a module."""
    (function,) = (op for op in module.body.block.ops if isinstance(op, func.FuncOp))
    return function


def name_hint(name: str) -> str:
    """A name of a model's as an SSA name: other characters become underscores, a digit in front gets one.

    Numbers behind it go: xDSL takes one off and gives its own, which must not meet one that is left.
    """
    text = _UNFIT.sub("_", name[:96]).strip("_")[:64]
    return _NUMBERS.sub("", text if text and not text[0].isdigit() else f"t_{text}" if text else "")


def param_key(name: str) -> str:
    """The key of a weight: the initialiser's name, or a hash of it when it is long or not printable."""
    if name.isprintable() and len(name) <= 200 and '"' not in name and "\\" not in name:
        return name
    return "param_" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def checked_nbytes(shape: Sequence[int], dtype: str, limit: int, where: str) -> int:
    """The bytes of a tensor, 0 where they depend on symbols.

    Raises InputError for a negative extent or a size beyond the limit.
    """
    for extent in shape:
        if extent < 0:
            raise InputError(f"extent {extent} of shape {list(shape)} is negative", where=where, hint="give real sizes")
    if any(map(is_symbolic, shape)):
        return 0  # sizes are bounded where they are given
    size = prod(shape) * itemsize(dtype)
    if size > limit:
        raise InputError(
            f"a tensor of shape {list(shape)} takes {size} bytes, the limit is {limit}",
            where=where,
            hint="lamina.load(..., max_tensor_bytes=N), or --max-tensor-bytes N, allows more",
        )
    return size


class Value:
    """A tensor during import: its type, its array where it is a constant, its SSA value once it has one."""

    __slots__ = ("array", "digest", "dtype", "logical", "name", "shape", "ssa")

    def __init__(
        self, shape: tuple[int, ...], dtype: str, *, ssa: SSAValue | None = None, array: NDArray[Any] | None = None,
        name: str = "", logical: str = "",
    ) -> None:  # fmt: skip
        self.shape = shape
        self.logical = logical or dtype
        """ONNX's name of the type: of float8 and int4 tensors `dtype` is the type of the bytes that hold them."""
        self.dtype = dtype
        self.ssa = ssa
        self.array = array
        self.name = name
        self.digest: Future[str] | None = None
        """That of the array, where a thread is at it."""

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.shape, self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class RelayBuilder:
    """Emits the Relay ops of a function body."""

    def __init__(self, block: Block, store: ParamStore, label: str, limit: int) -> None:
        self.block = block
        """The block that ops are appended to: the body of the function, or a branch in it."""
        self.frame = Frame(block)
        """The function under construction."""
        self.store = store
        self.label = label
        self.limit = limit
        """The most bytes that a tensor may have."""
        self.named_weights = False
        """Whether a constant that has a name is a parameter also where it is small."""
        self.location: Any = None
        """The place in the model that ops which are emitted now come from."""

    @property
    def where(self) -> str:
        """The place in the model, for messages."""
        return self.label

    # -- constants ---------------------------------------------------------------------------------

    def constant(self, array: Any, dtype: str | None = None, name: str = "") -> Value:
        """A constant; it is written into the function when something uses it. Numbers of symbols are int64."""
        values = np.asarray(array) if dtype is None else np.asarray(array, dtype)
        held = "int64" if values.dtype == object else str(values.dtype)
        return Value(values.shape, held, array=values, name=name)

    def scalar(self, number: float, like: Value) -> Value:
        """A constant of rank 0 with the element type of `like`; the number may depend on symbols."""
        if is_symbolic(number):
            return self.cast(self.reshape(self.numbers([number]), ()), like.dtype)  # type: ignore[list-item]
        return self.constant(np.asarray(number).astype(numpy_dtype(like.dtype)))

    def splat(self, number: Any, shape: tuple[int, ...], name: str = "") -> Value:
        """A constant of one number repeated: it takes no memory until its values are asked for.

        Of a shape that depends on symbols it is no constant.
        """
        if any(map(is_symbolic, shape)):
            return self.op("full", self.constant(number), shape=list(shape))
        self.check_size(shape, str(number.dtype))
        return Value(shape, str(number.dtype), array=np.broadcast_to(number, shape), name=name)

    def check_size(self, shape: Sequence[int], dtype: str) -> None:
        checked_nbytes(shape, dtype, self.limit, self.where)

    def ssa(self, value: Value) -> SSAValue:
        """The SSA value in the function under construction; a constant is emitted at its first use in it."""
        if value.array is None:
            assert value.ssa is not None
            return self.frame.here(value.ssa)
        found = value.ssa if value.ssa is not None and self.frame.sees(value.ssa) else self.frame.constant(value)
        if found is None and value.array.dtype == object:
            found = value.ssa = self._symbolic_constant(value)
            self.frame.constants[id(value)] = (value, found)
        elif found is None:
            op = self._constant_op(value)
            if value.name:
                hint = StringAttr(value.name[:200])
                op.location = NameLoc(hint, NoneAttr())
                op.result.name_hint = name_hint(value.name) or None
            elif self.location is not None:
                op.location = self.location
            self.frame.entry.add_op(op)
            found = value.ssa = op.result
            self.frame.constants[id(value)] = (value, found)
        return found

    def numbers(self, values: Sequence[int]) -> Value:
        """A vector of int64, of which some may depend on symbols."""
        if not any(map(is_symbolic, values)):
            return self.constant(np.asarray(values, np.int64))
        return Value((len(values),), "int64", array=np.array([*values], object))

    def _constant_op(self, value: Value) -> ConstantOp:
        array = value.array
        assert array is not None
        key = param_key(value.name) if value.name else "constant"
        if array.nbytes > INLINE_BYTES and not any(array.strides):
            number = array.flat[0]
            type_ = tensor_type(value.shape, value.dtype)
            recipe = f"full({number!r})"
            attr = self.store.derive((), recipe, type_, _filler(value.shape, number), key)
            return ConstantOp.make(attr, type_)
        digest = value.digest.result() if value.digest is not None else None
        array = np.ascontiguousarray(array).reshape(value.shape)
        if value.name and self.named_weights:
            return ConstantOp.make(self.store.add(key, array, digest), tensor_type(value.shape, value.dtype))
        return make_constant(array, self.store, key, digest)

    def _symbolic_constant(self, value: Value) -> SSAValue:
        """A constant whose elements depend on symbols."""
        assert value.array is not None
        whole = ["int64", value.dtype][value.dtype in INTEGERS]
        made: list[RelayOp] = [ExtentsOp.make(values=tuple(value.array.reshape(-1)), dtype=whole)]
        if value.rank != 1:
            made.append(ReshapeOp.make(made[-1], newshape=value.shape, allowzero=True))
        if whole != value.dtype:
            made.append(CastOp.make(made[-1], dtype=value.dtype))
        for op in made:
            op.location = self.location
            self.frame.entry.add_op(op)
        return made[-1].results[0]

    # -- ops ---------------------------------------------------------------------------------------

    def op(self, op_name: str, *operands: Value, **attrs: Any) -> Value:
        """The one result of `relay.<name>`."""
        return self.ops(op_name, *operands, **attrs)[0]

    def ops(self, op_name: str, *operands: Value, **attrs: Any) -> list[Value]:
        """The results of `relay.<name>`. Raises InputError naming the node where operands do not fit."""
        op_type: type[RelayOp] | None = find_op(f"relay.{op_name}")
        if op_type is None:
            raise self._lacks(op_name)
        try:
            # What a model quantises stays as the passes on quantised tensors look for it.
            if all(o.array is not None for o in operands) and not op_name.startswith("qnn."):
                numbers = any(o.array is not None and o.array.dtype == object for o in operands)
                numbers = numbers or any(is_symbolic(v) for a in attrs.values() for v in _items(a))
                folded = (self._fold_symbolic if numbers else self._fold)(op_type, operands, attrs)
                if folded is not None:
                    return folded
            op = op_type.make(*(self.ssa(o) for o in operands), **attrs)
            infos = [tensor_info(t) for t in op.result_types]
        except TypeMismatch as e:
            raise self.mismatch(str(e).removeprefix(f"{op_type.name}: "), operands) from None
        op.location = self.location
        values: list[Value] = []
        for result, info in zip(op.results, infos, strict=True):
            self.check_size(info.shape, info.dtype)
            values.append(Value(tuple(info.shape), info.dtype, ssa=result))
        self.block.add_op(op)
        return values

    def _lacks(self, op_name: str) -> LaminaError:
        return UnsupportedError(
            f"needs the op relay.{op_name}, which does not exist yet", where=self.where, hint="update Lamina"
        )

    def mismatch(self, what: str, operands: Sequence[Any]) -> LaminaError:
        """The error of operands that do not fit an op."""
        return InputError(what, where=self.where, hint=f"the operands are {', '.join(map(str, operands))}")

    def _fold(self, op_type: type[RelayOp], operands: Sequence[Value], attrs: dict[str, Any]) -> list[Value] | None:
        """The results of an op on constants, None where they are better left to the compiler's passes."""
        infos = result_infos(op_type, [o.info for o in operands], attrs)
        if any(is_symbolic(e) for i in infos for e in i.shape):
            return None
        for i in infos:
            self.check_size(i.shape, i.dtype)
        sizes = [
            checked_nbytes(i.shape, i.dtype, self.limit, self.where) for i in (*infos, *(o.info for o in operands))
        ]
        if sum(sizes) > FOLD_BYTES:
            return None
        arrays = [o.array for o in operands if o.array is not None]
        given = {k: v for k, v in attrs.items() if v is not None}
        return [self.constant(r) for r in np_results(op_type, arrays, given)]

    def _fold_symbolic(
        self, op_type: type[RelayOp], operands: Sequence[Value], attrs: dict[str, Any]
    ) -> list[Value] | None:
        """The results of an op on constants of which some depend on symbols, None where it must be computed."""
        symbols = current_symbols()
        assert symbols is not None
        infos = result_infos(op_type, [o.info for o in operands], attrs)
        if any(is_symbolic(e) for i in infos for e in i.shape):
            return None
        arrays = [o.array for o in operands if o.array is not None]
        results = symbolic_results(op_type, arrays, {k: v for k, v in attrs.items() if v is not None}, symbols)
        if results is None:
            return None
        return [_folded(array, info) for array, info in zip(results, infos, strict=True)]

    # -- shorthands that several converters share ----------------------------------------------------

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """`x` in another shape, itself where it has that shape."""
        return x if surely_same(shape, x.shape) else self.op("reshape", x, newshape=list(shape), allowzero=True)

    def broadcast(self, x: Value, shape: Sequence[int]) -> Value:
        """The tensor repeated along axes of one element until it has a shape."""
        return x if surely_same(shape, x.shape) else self.op("broadcast_to", x, shape=list(shape))

    def common_shape(self, *shapes: Sequence[int]) -> tuple[int, ...]:
        """The shape that tensors of these have when they are broadcast. Raises InputError where there is none."""
        try:
            return broadcast_shapes(*map(tuple, shapes))
        except TypeMismatch as e:
            raise InputError(str(e), where=self.where, hint="correct the model") from None

    def matrices(self, x: Value, y: Value) -> Value:
        """The products of two stacks of matrices, whose leading axes broadcast."""
        batch = self.common_shape(x.shape[:-2], y.shape[:-2])

        def stack(v: Value) -> Value:
            count = prod(v.shape[:-2])
            if not is_always(count, 1) and not surely_equal(count, prod(batch)):
                v = self.broadcast(v, (*batch, *v.shape[-2:]))
            return self.reshape(v, (prod(v.shape[:-2]), *v.shape[-2:]))

        product = self.contraction("nn.batch_matmul", stack(x), stack(y), transpose_b=False)
        product = self.broadcast(product, (prod(batch), *product.shape[1:]))
        return self.reshape(product, (*batch, *product.shape[1:]))

    def counted(self, first: int, last: int, by: int = 1, dtype: str = "int64") -> Value:
        """Whole numbers from `first` on, each `by` more, that are before `last`; the two may depend on symbols.

        Raises UnsupportedError where `by` does.
        """
        count = last - first
        if not any(map(is_symbolic, (first, last, by))):
            length = max(0, -(-count // by))
            self.check_size((length,), dtype)
            line = [first + by * k for k in range(length)] if length <= 64 else first + by * np.arange(length)
            return self.constant(np.asarray(line).astype(numpy_dtype(dtype)))
        if is_symbolic(by) or not by:
            raise UnsupportedError(f"a range by steps of {by} up to {last} is not supported", where=self.where)
        if by < 0:
            back = self.counted(0, -count, -by, dtype)
            return self.op("subtract", self.scalar(first, back), back)
        stop = [count] if is_symbolic(count) else float(count)
        line = self.op("arange", start=0.0, stop=stop, step=float(by), dtype=dtype)
        return line if is_always(first, 0) else self.op("add", line, self.scalar(first, line))

    def known_from_front(self, indices: Value, extent: int) -> Value:
        """Indices that are known, of which some may depend on symbols as the extent may, counted from the front.

        Raises InputError for one out of range.
        """
        assert indices.array is not None
        found: list[Any] = []
        for index in indices.array.reshape(-1).tolist():
            if index < -extent or index >= extent:
                what = f"index {index} is out of range for an extent of {extent}"
                raise InputError(what, where=self.where, hint="correct the model")
            found.append(index + extent if index < 0 else index)
        return self.cast(self.reshape(self.numbers(found), indices.shape), indices.dtype)

    def triangle(self, rows: int, columns: int, k: int = 0, upper: bool = False) -> Value:
        """Whether the elements of a matrix stand on or below its k-th diagonal; with `upper` on or above it."""
        if any(map(is_symbolic, (rows, columns, k))):
            row = self.reshape(self.counted(k, rows + k), (rows, 1))
            return self.op("greater_equal" if upper else "less_equal", self.counted(0, columns), row)
        self.check_size((rows, columns), "bool")
        k = max(-rows - 1, min(k, columns + 1))
        lower = np.tri(rows, columns, k - 1 if upper else k, dtype=np.bool_)
        return self.constant(~lower if upper else lower)

    def contraction(self, op_name: str, x: Value, w: Value, **attrs: Any) -> Value:
        """A matrix product or convolution; those of 16-bit floats are accumulated in float32 and rounded once."""
        if x.dtype not in ("float16", "bfloat16") or w.dtype != x.dtype:
            return self.op(op_name, x, w, **attrs)
        return self.cast(self.op(op_name, x, w, out_dtype="float32", **attrs), x.dtype)

    def cast(self, x: Value, dtype: str) -> Value:
        return x if x.dtype == dtype else self.op("cast", x, dtype=dtype)

    # -- functions -----------------------------------------------------------------------------------

    def inlined(self, module: ModuleOp, operands: Sequence[SSAValue]) -> list[Value]:
        """Move the ops of a module's one function here: its results on these operands."""
        block = function_of(module).body.block
        for argument, operand in zip(block.args, operands, strict=True):
            argument.replace_all_uses_with(operand)
        last = block.last_op
        assert last is not None
        for op in list(block.ops):
            op.detach()
            if op is not last:
                self.block.add_op(op)
        results = [(tensor_info(r.type), r) for r in last.operands]
        last.erase()  # it would be a use of them
        return [Value(i.shape, i.dtype, ssa=r) for i, r in results]

    # -- the module ----------------------------------------------------------------------------------

    def module(
        self, inputs: Sequence[Port], outputs: Sequence[Port], results: Sequence[SSAValue], stem: str
    ) -> ModuleOp:
        """The module whose @main has the block's arguments and these results; the weights are in `stem`.safetensors."""
        self.block.add_op(func.ReturnOp(*results))
        types = [a.type for a in self.block.args], [r.type for r in results]
        main = func.FuncOp("main", types, Region(self.block))
        main.properties["arg_attrs"] = _names(inputs)
        main.properties["res_attrs"] = _names(outputs)
        main.location = FileLineColLoc(StringAttr(self.label), IntAttr(0), IntAttr(0))
        module = ModuleOp([main])
        module.attributes["lamina.params"] = StringAttr(f"{stem}.safetensors")
        return module


def _items(attribute: Any) -> list[Any]:
    """The numbers of an attribute, which is a list of them, of lists, or one."""
    if not isinstance(attribute, (list, tuple)):
        return [attribute]
    return [number for part in cast("Sequence[Any]", attribute) for number in _items(part)]


def _folded(array: NDArray[Any], info: TensorInfo) -> Value:
    """A constant of numbers that may depend on symbols."""
    if not any(map(is_symbolic, array.reshape(-1))):
        array = array.astype(numpy_dtype(info.dtype))
    return Value(info.shape, info.dtype, array=array)


def _names(ports: Sequence[Port]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({NAME: StringAttr(p.name)}) for p in ports])


def _filler(shape: tuple[int, ...], number: Any) -> Any:
    def fill() -> NDArray[Any]:
        return np.full(shape, number)

    return fill
