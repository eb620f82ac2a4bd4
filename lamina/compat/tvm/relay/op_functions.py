"""The functions that build calls of operators, with TVM's signatures: operands by position, attributes by keyword.

Most are made from the ops' own declarations. `SIGNATURES` says where TVM's order, names or defaults are others;
what is more than a call stands in `op_composites.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, Signature
from typing import Any, cast

import numpy as np

from lamina.dialects.attributes import from_attribute
from lamina.frontends.tvm_text.expr import Constant, TupleWrapper, as_expr, make_call
from lamina.frontends.tvm_text.op_calls import results_of
from lamina.frontends.tvm_text.operators import ALWAYS_TUPLES, FIRST_OF, kinds, op_class, operand_names
from lamina.te.expr import dtype_of

_CONV_TRANSPOSE = (
    "data weight strides padding dilation groups channels kernel_size data_layout kernel_layout out_layout"
    " output_padding out_dtype"
)
_POOL = "data pool_size={0} strides dilation padding layout out_layout='' ceil_mode"
_AVG_POOL = _POOL + " count_include_pad"
_QNN_CONV = (
    "data kernel:weight input_zero_point kernel_zero_point input_scale kernel_scale kernel_size channels strides"
    " padding dilation groups data_layout kernel_layout out_layout out_dtype"
)

SIGNATURES: dict[str, str] = {
    **dict.fromkeys(
        (
            "nn.conv1d",
            "nn.conv2d",
            "nn.conv3d",
            "nn.contrib_conv2d_gemm_without_weight_transform",
            "nn.contrib_depthwise_conv2d_NCHWc",
        ),
        "data weight strides padding dilation groups channels kernel_size data_layout kernel_layout out_layout "
        "out_dtype",
    ),
    "nn.deformable_conv2d": "data offset weight strides padding dilation deformable_groups groups channels "
    "kernel_size data_layout kernel_layout out_layout out_dtype",
    "clip": "a:x a_min a_max",
    "cast": "data:x dtype",
    "reinterpret": "data:x dtype",
    "copy": "data:x",
    "where": "condition x:lhs y:rhs",
    "gather": "data axis indices",
    "gather_nd": "data indices batch_dims index_rank=None",
    "full": "fill_value shape=() dtype",
    "full_like": "data:x fill_value",
    "zeros_like": "data:x",
    "ones_like": "data:x",
    "sparse_to_dense": "sparse_indices output_shape sparse_values default_value=0",
    "stack": "data axis",
    "repeat": "data repeats axis",
    "matrix_set_diag": "data:input diagonal k=0 align='RIGHT_LEFT'",
    "stft": "data n_fft hop_length=None win_length=None window=None normalized onesided",
    "argsort": "data valid_count=None axis is_ascend dtype",
    "argmax": "data axis keepdims exclude select_last_index",
    "argmin": "data axis keepdims exclude select_last_index",
    "zeros": "shape dtype",
    "ones": "shape dtype",
    "fixed_point_multiply": "data:x multiplier shift",
    "fixed_point_multiply_per_axis": "x:data y:fp_multiplier lshift:left_shift rshift:right_shift is_lshift_required"
    " is_rshift_required axis:axes",
    "nn.conv1d_transpose": _CONV_TRANSPOSE,
    "nn.conv2d_transpose": _CONV_TRANSPOSE,
    "nn.conv3d_transpose": _CONV_TRANSPOSE,
    "nn.max_pool1d": _POOL.format("(1,)"),
    "nn.max_pool2d": _POOL.format("(1,1)"),
    "nn.max_pool3d": _POOL.format("(1,1,1)"),
    "nn.avg_pool1d": _AVG_POOL.format("(1,)"),
    "nn.avg_pool2d": _AVG_POOL.format("(1,1)"),
    "nn.avg_pool3d": _AVG_POOL.format("(1,1,1)"),
    "nn.avg_pool2d_grad": "out_grad data pool_size=(1,1) strides padding layout out_layout='' ceil_mode"
    " count_include_pad=True",
    "nn.max_pool2d_grad": "out_grad data pool_size=(1,1) strides padding layout out_layout='' ceil_mode",
    "nn.global_max_pool2d": "data layout out_layout=''",
    "nn.global_avg_pool2d": "data layout out_layout=''",
    **{
        f"nn.adaptive_{kind}_pool{rank}d": "data output_size layout out_layout=''"
        for kind in ("max", "avg")
        for rank in (1, 2, 3)
    },
    "nn.upsampling": "data scale_h=1 scale_w=1 layout method='nearest_neighbor' align_corners",
    "nn.mirror_pad": "data pad_width mode",
    "nn.leaky_relu": "data alpha",
    "nn.lrn": "data size axis bias alpha beta",
    "nn.cross_entropy": "predictions:x targets:y",
    "nn.cross_entropy_with_logits": "predictions:x targets:y",
    "nn.dilate": "data:x strides dilation_value",
    "nn.contrib_conv2d_winograd_without_weight_transform": "data weight tile_size strides padding dilation groups"
    " channels kernel_size data_layout kernel_layout out_layout out_dtype",
    "nn.contrib_conv2d_NCHWc": "data kernel:weight strides padding dilation groups channels kernel_size"
    " data_layout='NCHW8c' kernel_layout='OIHW' out_layout out_dtype",
    "qnn.conv2d": _QNN_CONV,
    "qnn.conv2d_transpose": "data weight input_zero_point kernel_zero_point input_scale kernel_scale strides padding"
    " dilation groups channels kernel_size data_layout kernel_layout out_layout output_padding out_dtype",
    "qnn.concatenate": "data input_scales input_zero_points output_scale output_zero_point axis",
    "qnn.leaky_relu": "x:data alpha input_scale input_zero_point output_scale output_zero_point",
    "qnn.avg_pool2d": "data input_scale input_zero_point output_scale output_zero_point pool_size strides padding"
    " dilation ceil_mode count_include_pad=True layout='NHWC' out_layout=''",
    "annotation.compiler_begin": "data:x compiler",
    "annotation.compiler_end": "data:x compiler",
    "annotation.stop_fusion": "data:x",
    "annotation.checkpoint": "data:x",
    "annotation.cast_hint": "data:x dtype",
}
"""`name`, `name:ours`, `name=default`, in TVM's order."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


LATER: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **{f"image.resize{rank}d": ("roi", lambda value: not isinstance(value, str)) for rank in (1, 2, 3)},
    "qnn.requantize": ("compute_dtype", lambda value: value in (None, "None", "int64", "float32", "float64")),
    **{f"nn.{kind}_pool{rank}d": ("out_layout", _is_text) for kind in ("max", "avg") for rank in (1, 2, 3)},
}
"""Parameters that TVM has had since 0.8, in the middle of the others, and what they may be.

What stands in such a place and may not be it is for the parameter behind, as a program of before means it.
"""

_LENGTHS = {"1d": 1, "2d": 2, "3d": 3}
_REPEATED = frozenset(("strides", "dilation", "kernel_size", "pool_size", "output_padding", "tile_rows"))
_LISTS = frozenset(("axis", "axes", "shape", "newshape", "reps", "output_shape", "size", "block_shape", "output_size"))


class OpFunction:
    """A function that builds a call of one operator."""

    def __init__(self, name: str) -> None:
        self.op_name = name
        self.__name__ = name.rpartition(".")[2]
        cls = op_class(name)
        self.__doc__ = cls.__doc__
        self.operands = operand_names(name)
        known = cls.known_attributes()
        defaults = {k: from_attribute(v) for k, v in cls.defaults().items()}
        from xdsl.irdl import OptPropertyDef

        words = SIGNATURES.get(name)
        listed = words.split() if words is not None else [*self.operands, *known]
        if words is None and self.operands == ["x"] and "." not in name:
            listed[0] = "data:x"  # what TVM calls the operand of every function of elements
        self.ours: dict[str, str] = {}
        parameters: list[Parameter] = []
        for word in listed:
            word, has_default, text = word.partition("=")
            given, _, ours = word.partition(":")
            ours = ours or given
            self.ours[given] = ours
            default: Any = Parameter.empty
            if has_default:
                default = ast.literal_eval(text)
            elif ours in defaults:
                default = defaults[ours] if defaults[ours] != () else None
            elif isinstance(known.get(ours), OptPropertyDef):
                default = None
            parameters.append(Parameter(given, Parameter.POSITIONAL_OR_KEYWORD, default=default))
        # A parameter without a default may follow one with: TVM's programs give it by name.
        seen = False
        for n, p in enumerate(parameters):
            seen = seen or p.default is not Parameter.empty
            if seen and p.default is Parameter.empty:
                parameters[n] = p.replace(default=_REQUIRED)
        self.__signature__ = Signature(parameters)
        self.order = [
            g for o in self.operands for g, mine in self.ours.items() if mine == o and o in self.operands
        ] or [g for g, mine in self.ours.items() if mine not in known]
        if name == "qnn.concatenate":
            self.order = [g for g in self.ours if g != "axis"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        later, fits = LATER.get(self.op_name, ("", _is_text))
        place = list(self.ours).index(later) if later else len(args)
        if place < len(args) and not fits(args[place]):
            args = (*args[:place], self.__signature__.parameters[later].default, *args[place:])
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f"relay.{self.op_name}{self.__signature__}: {e}") from None
        bound.apply_defaults()
        given = bound.arguments
        missing = [k for k, v in given.items() if v is _REQUIRED]
        if missing:
            raise TypeError(f"relay.{self.op_name}{self.__signature__}: {missing[0]!r} is missing")
        operands = [as_expr(given[g]) for g in self.order]
        attrs = {
            self.ours[k]: plain_attr(self.op_name, self.ours[k], v) for k, v in given.items() if k not in self.order
        }
        known = op_class(self.op_name).known_attributes()
        attrs = {k: v for k, v in attrs.items() if k in known or v not in ("", None)}
        return wrapped(make_call(self.op_name, operands, attrs))

    def __repr__(self) -> str:
        return f"relay.{self.op_name}{self.__signature__}"


class _Required:
    def __repr__(self) -> str:
        return "..."


_REQUIRED = _Required()


def wrapped(call: Any) -> Any:
    """A call, as TVM's function gives it: with its results to be unpacked where it has several."""
    name = call.op.name
    if name == "nn.dropout":
        return TupleWrapper(call, 2)[0]
    if name in FIRST_OF:
        return TupleWrapper(call, FIRST_OF[name])
    size = results_of(call)
    return TupleWrapper(call, size) if size != 1 or name in ALWAYS_TUPLES else call


def plain_attr(op: str, key: str, value: Any) -> Any:
    """An attribute as TVM's function gives it to the operator: tuples of ints, numpy names of dtypes, full paddings."""
    if isinstance(value, Constant):
        value = value.values.tolist()
    if isinstance(value, (np.ndarray, np.generic)):
        value = cast("Any", value).tolist()
    if value is None:
        return None
    if key in ("dtype", "out_dtype"):
        return value if value == "" else dtype_of(value)
    if key in ("keepdims", "exclude", "is_ascend", "ceil_mode") and isinstance(value, (int, float)):
        return bool(value)
    rank = next((n for text, n in _LENGTHS.items() if text in op), None)
    if key == "padding" and rank is not None:
        return _full_padding(value, rank)
    if isinstance(value, int) and not isinstance(value, bool):
        if key in _REPEATED and rank is not None:
            return (value,) * rank
        if key == "indices_or_sections" or (key == "axis" and _is_number(op, "axis")):
            return value
        if key == "size" and rank is not None:
            return (value,) * rank
        if key in _LISTS and not _is_number(op, key):
            return (value,)
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return tuple(_item(v) for v in items)
    return value


def _item(v: Any) -> Any:
    if isinstance(v, (list, tuple)):
        return tuple(_item(w) for w in cast("Sequence[Any]", v))
    if isinstance(v, Constant):
        return v.values.item()
    return cast("Any", v).item() if isinstance(v, np.generic) else getattr(v, "value", v)


def _is_number(op: str, key: str) -> bool:
    """Whether an attribute is one integer."""
    cls = op_class(op)
    return key in cls.known_attributes() and "int" in kinds(cls, key)


def _full_padding(value: Any, rank: int) -> tuple[int, ...]:
    """TVM's paddings say both sides of each axis: those before, then those after."""
    given = [value] * rank if isinstance(value, int) else [int(_item(v)) for v in value]
    if len(given) == 1:
        given *= rank
    return tuple(given * 2) if len(given) == rank else tuple(given)


@cache
def op_function(name: str) -> OpFunction:
    """The function of an operator. Raises UsageError where there is none."""
    return OpFunction(name)
