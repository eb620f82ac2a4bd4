"""Functions of TVM's relay namespace that are more than one call, or whose operator depends on what they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, cast

import numpy as np

from lamina.compat.tvm.relay.op_devices import DEVICE_COMPOSITES
from lamina.compat.tvm.relay.op_functions import op_function, wrapped
from lamina.compat.tvm.relay.op_images import IMAGE_COMPOSITES
from lamina.compat.tvm.relay.op_packed import PACKED_COMPOSITES
from lamina.errors import UnsupportedError, UsageError
from lamina.frontends.tvm_text.expr import Constant, Expr, Tuple, TupleWrapper, as_expr, const, make_call
from lamina.frontends.tvm_text.ty import TensorType
from lamina.vm.debugging import debugger


def _f(name: str, *args: Any, **kwargs: Any) -> Any:
    return op_function(name)(*args, **kwargs)


def _rank(data: Expr) -> int:
    type_ = data.checked_type
    if not isinstance(type_, TensorType):
        raise UsageError(f"a tensor is wanted, not {type_}")
    return len(type_.shape)


def _unknown(value: Any) -> bool:
    """Whether it is an expression that is no constant."""
    value = value.tuple_value if isinstance(value, TupleWrapper) else value
    return isinstance(value, Expr) and not isinstance(value, Constant)


def _vector(value: Any) -> Any:
    return value if isinstance(value, Expr) else const(np.asarray(value), "int64")


# -- what may be known only when the program runs ------------------------------------------------------


def reshape(data: Any, newshape: Any, allowzero: bool = False) -> Any:
    """Another shape of the same elements: 0 keeps an extent, -1 is what is left, -2, -3 and -4 as in TVM."""
    if _unknown(newshape):
        return make_call("dyn.reshape", [data, newshape], {"allowzero": allowzero})
    if isinstance(newshape, (tuple, list)):
        newshape = _numbers(cast("Sequence[Any]", newshape))
    return _f("reshape", data, newshape, allowzero)


def _numbers(values: Sequence[Any]) -> list[Any]:
    return [v.values.item() if isinstance(v, Constant) else v for v in values]


def broadcast_to(data: Any, shape: Any) -> Any:
    """The tensor stretched to a shape."""
    return make_call("dyn.broadcast_to", [data, shape]) if _unknown(shape) else _f("broadcast_to", data, shape)


def tile(data: Any, reps: Any) -> Any:
    """The tensor repeated as a whole."""
    return make_call("dyn.tile", [data, reps]) if _unknown(reps) else _f("tile", data, reps)


def full(fill_value: Any, shape: Any = (), dtype: Any = "") -> Any:
    """A tensor of one value."""
    if _unknown(shape):
        return make_call("dyn.full", [fill_value, shape], {"dtype": dtype})
    return _f("full", fill_value, shape, dtype)


def zeros(shape: Any, dtype: Any) -> Any:
    """A tensor of zeros."""
    return make_call("dyn.zeros", [shape], {"dtype": dtype}) if _unknown(shape) else _f("zeros", shape, dtype)


def ones(shape: Any, dtype: Any) -> Any:
    """A tensor of ones."""
    return make_call("dyn.ones", [shape], {"dtype": dtype}) if _unknown(shape) else _f("ones", shape, dtype)


def topk(
    data: Any, k: Any = 1, axis: int = -1, ret_type: str = "both", is_ascend: bool = False, dtype: Any = "int32"
) -> Any:
    """The k largest elements along an axis, and where they stand."""
    attrs = {"axis": axis, "ret_type": ret_type, "is_ascend": bool(is_ascend), "dtype": dtype}
    if _unknown(k):
        call = make_call("dyn.topk", [data, k], attrs)
        return TupleWrapper(call, 2) if ret_type == "both" else call
    return _f("topk", data, int(_numbers([k])[0]), **attrs)


def one_hot(indices: Any, on_value: Any, off_value: Any, depth: Any, axis: int, dtype: Any) -> Any:
    """`on_value` where the index is, `off_value` elsewhere."""
    on, off = (v if isinstance(v, Expr) else const(v, dtype) for v in (on_value, off_value))
    if _unknown(depth):
        return make_call("dyn.one_hot", [indices, on, off, depth], {"axis": axis})
    return _f("one_hot", indices, on, off, int(_numbers([depth])[0]), axis)


def strided_slice(
    data: Any, begin: Any, end: Any, strides: Any = None, axes: Any = None, slice_mode: str = "end"
) -> Any:
    """Elements from `begin` to `end` by `strides` along each axis."""
    if any(map(_unknown, (begin, end, strides))):
        steps = const(np.ones(_rank(as_expr(data)), np.int64), "int64") if strides is None else _vector(strides)
        return make_call("dyn.strided_slice", [data, _vector(begin), _vector(end), steps], {"slice_mode": slice_mode})
    return _f("strided_slice", data, begin, end, strides, axes, slice_mode)


def strided_set(data: Any, v: Any, begin: Any, end: Any, strides: Any = None) -> Any:
    """The tensor with a slice of it replaced."""
    begin = _vector(begin)
    steps = const(np.ones(begin.checked_type.shape, np.int64), "int64") if strides is None else _vector(strides)
    return make_call("strided_set", [data, v, begin, _vector(end), steps])


def expand_dims(data: Any, axis: Any, num_newaxis: int = 1) -> Any:
    """Axes of extent 1 before `axis`."""
    if _unknown(axis):
        return make_call("dyn.expand_dims", [data, axis], {"num_newaxis": num_newaxis})
    return _f("expand_dims", data, int(_numbers([axis])[0]), num_newaxis)


def squeeze(data: Any, axis: Any = None) -> Any:
    """The tensor without axes of extent 1."""
    return make_call("dyn.squeeze", [data, axis]) if _unknown(axis) else _f("squeeze", data, axis)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = "float32") -> Any:
    """The numbers from `start` up to `stop` by `step`; they have to be known."""
    if stop is None:
        start, stop = 0, start
    bounds = [v if isinstance(v, Expr) else const(v, dtype) for v in (start, stop, 1 if step is None else step)]
    return make_call("arange", bounds, {"dtype": dtype})


def pad(data: Any, pad_width: Any, pad_value: Any = 0, pad_mode: str = "constant") -> Any:
    """The tensor with a border."""
    data = as_expr(data)
    if not isinstance(pad_value, Expr):
        try:
            dtype = data.checked_type.dtype
        except Exception:
            dtype = "float32"
        pad_value = const(pad_value, dtype)
    if _unknown(pad_width):
        return make_call("dyn.nn.pad", [data, pad_width, pad_value], {"pad_mode": pad_mode})
    pairs = tuple(tuple(int(n) for n in pair) for pair in pad_width)
    return make_call("nn.pad", [data, pad_value], {"pad_width": pairs, "pad_mode": pad_mode})


def upsampling(
    data: Any,
    scale_h: Any = 1,
    scale_w: Any = 1,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Any:
    """Rows and columns `scale` times as many."""
    attrs = {"layout": layout, "method": method, "align_corners": align_corners}
    if _unknown(scale_h) or _unknown(scale_w):
        scales = [s if isinstance(s, Expr) else const(s, "float32") for s in (scale_h, scale_w)]
        return make_call("dyn.nn.upsampling", [data, *scales], attrs)
    return _f("nn.upsampling", data, *(float(s) for s in _numbers([scale_h, scale_w])), **attrs)


# -- what is several calls ------------------------------------------------------------------------------


def variance(
    data: Any,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: Any = None,
) -> Any:
    """The mean square of what differs from the mean."""
    average = _f("mean", data, axis, True, exclude) if with_mean is None else with_mean
    return _f("variance", data, average, unbiased=unbiased, axis=axis, keepdims=keepdims, exclude=exclude)


def std(data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False) -> Any:
    """The root of the variance."""
    return _f("sqrt", variance(data, axis, keepdims, exclude, unbiased))


def mean_variance(
    data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> Any:
    """Mean and variance."""
    average = _f("mean", data, axis, True, exclude)
    spread = variance(data, axis, keepdims, exclude, unbiased, average)
    return TupleWrapper(Tuple([average if keepdims else _f("squeeze", average, axis), spread]), 2)


def mean_std(data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Any:
    """Mean and standard deviation."""
    average, spread = mean_variance(data, axis, keepdims, exclude)
    return TupleWrapper(Tuple([average, _f("sqrt", spread)]), 2)


def logsumexp(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials, safe from overflow."""
    highest = _f("max", data, axis, True)
    total = _f("sum", _f("exp", _f("subtract", data, highest)), axis, True)
    found = _f("add", _f("log", total), highest)
    return found if keepdims else _f("squeeze", found, axis)


def batch_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> TupleWrapper:
    """Normalisation by the given mean and variance; the results are it, the mean and the variance."""
    attrs = {"axis": axis, "epsilon": epsilon, "center": center, "scale": scale}
    return TupleWrapper(make_call("nn.batch_norm", [data, gamma, beta, moving_mean, moving_var], attrs), 5 - 2)


def dropout(data: Any, rate: float = 0.5) -> Expr:
    """The data, at inference."""
    return dropout_raw(data, rate)[0]


def dropout_raw(data: Any, rate: float = 0.5) -> TupleWrapper:
    """The data and, in training, a mask."""
    return TupleWrapper(make_call("nn.dropout", [data], {"rate": float(rate)}), 2)


def matrix_set_diag(data: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """The matrices with other diagonals."""
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    upper, lower = align.split("_")
    attrs = {
        "k1": low,
        "k2": high,
        "super_diag_right_align": upper == "RIGHT",
        "sub_diag_right_align": lower == "RIGHT",
    }
    return make_call("matrix_set_diag", [data, diagonal], attrs)


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0) -> Any:
    """A tensor of values at some places and the default elsewhere."""
    values = as_expr(sparse_values)
    default = default_value if isinstance(default_value, Expr) else const(default_value, values.checked_type.dtype)
    shape = tuple(int(n) for n in (output_shape.values if isinstance(output_shape, Constant) else output_shape))
    return make_call("sparse_to_dense", [sparse_indices, values, default], {"output_shape": shape})


def stft(
    data: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    normalized: bool = False,
    onesided: bool = True,
) -> Any:
    """The spectra of pieces of a signal."""
    hop = hop_length if hop_length is not None else n_fft // 4
    length = win_length if win_length is not None else n_fft
    shape = const(np.ones(n_fft, np.float32)) if window is None else window
    attrs = {"n_fft": n_fft, "hop_length": hop, "win_length": length, "normalized": normalized, "onesided": onesided}
    return make_call("stft", [data, shape], attrs)


def argsort(data: Any, valid_count: Any = None, axis: int = -1, is_ascend: Any = 1, dtype: Any = "int32") -> Any:
    """The places of the elements in order."""
    if valid_count is not None:
        raise UnsupportedError("argsort with valid_count is not bridged", hint="sort, then relay.sequence_mask")
    return make_call("argsort", [data], {"axis": axis, "is_ascend": bool(is_ascend), "dtype": dtype})


def sparse_dense(dense_mat: Any, sparse_mat: Any, sparse_lhs: bool = False) -> Any:
    """The product with a sparse matrix, given by its data, indices and row pointers."""
    parts = (
        [sparse_mat.data, sparse_mat.indices, sparse_mat.indptr] if hasattr(sparse_mat, "indptr") else list(sparse_mat)
    )
    operands = [p if isinstance(p, Expr) else const(p) for p in parts]
    return make_call("nn.sparse_dense", [dense_mat, *operands], {"sparse_lhs": sparse_lhs})


def _global_pool(kind: str, rank: int, layout: str) -> Any:
    def pool(data: Any, layout: str = layout, out_layout: str = "") -> Any:
        return _f(f"nn.adaptive_{kind}_pool{rank}d", data, (1,) * rank, layout)

    pool.__doc__ = f"The {kind} over all places of each channel."
    return pool


def dispatch(name: str, *args: Any, **kwargs: Any) -> Any:
    """A call of an operator by its name, as TVM's function gives it."""
    return wrapped(make_call(name, args, kwargs))


COMPOSITES: dict[str, Any] = {
    "reshape": reshape,
    "broadcast_to": broadcast_to,
    "tile": tile,
    "full": full,
    "zeros": zeros,
    "ones": ones,
    "topk": topk,
    "one_hot": one_hot,
    "strided_slice": strided_slice,
    "strided_set": strided_set,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "arange": arange,
    "variance": variance,
    "std": std,
    "mean_variance": mean_variance,
    "mean_std": mean_std,
    "logsumexp": logsumexp,
    "matrix_set_diag": matrix_set_diag,
    "sparse_to_dense": sparse_to_dense,
    "stft": stft,
    "argsort": argsort,
    "nn.pad": pad,
    "nn.upsampling": upsampling,
    "nn.batch_norm": batch_norm,
    "nn.dropout": dropout,
    "nn.dropout_raw": dropout_raw,
    "nn.sparse_dense": sparse_dense,
    **IMAGE_COMPOSITES,
    **PACKED_COMPOSITES,
    **DEVICE_COMPOSITES,
    **{
        f"nn.global_{kind}_pool{rank}d": _global_pool(kind, rank, layout)
        for kind in ("max", "avg")
        for rank, layout in ((1, "NCW"), (3, "NCDHW"))
    },
}
"""By the names that operators have, or would have."""

ALIASES = {
    "reverse_reshape": "contrib_reverse_reshape",
    "scatter": "scatter_elements",
    "scatter_add": "scatter_elements",
    "nn.contrib_conv2d_nchwc": "nn.contrib_conv2d_NCHWc",
    "nn.contrib_depthwise_conv2d_nchwc": "nn.contrib_depthwise_conv2d_NCHWc",
    "flip": "reverse",
}


def scatter_add(data: Any, indices: Any, updates: Any, axis: int = 0) -> Any:
    """TVM 0.8's: updates are added."""
    return _f("scatter_elements", data, indices, updates, axis, "add")


def debug(expr: Any, debug_func: Callable[[Any, Mapping[str, Any]], object] | None = None) -> Any:
    """The value; `debug_func(value, stack)` sees it when the program runs, without one it is printed."""
    name = ""
    if debug_func is not None:
        name = f"debugger_func{next(_DEBUGGERS)}"
        debugger(name)(debug_func)
    return make_call("debug", [expr], {"debug_func": name})


_DEBUGGERS = count()

COMPOSITES["scatter_add"] = scatter_add
COMPOSITES["debug"] = debug


def function_of(name: str) -> Any | None:
    """The function of TVM's relay namespace by the operator's name, None where there is none."""
    if name in COMPOSITES:
        return COMPOSITES[name]
    from lamina.frontends.tvm_text.operators import op_names

    ours = ALIASES.get(name, name)
    return op_function(ours) if ours in op_names() else None
