"""Calls of TVM's operators as ops of our IR, where the two are not written alike.

- a list of tensors is a tuple in TVM and operands here;
- a number that TVM passes as an operand may be an attribute here (the pad value of nn.pad);
- pairs ([[before, after], ...]) are one flat list here;
- None as an attribute is the default here;
- nn.batch_norm and nn.dropout give tuples in TVM, of which a program at inference needs the first field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from lamina.dialects.attributes import from_attribute
from lamina.dialects.relay.base import RelayOp
from lamina.errors import UnsupportedError
from lamina.frontends.tvm_text.convolutions import on_blocks, weight_shape
from lamina.frontends.tvm_text.expr import Attrs, Call, Constant, Expr, Tuple, const
from lamina.frontends.tvm_text.operators import WITH_EFFECTS, kinds, op_class, takes_list

PAIRS = {"pad_width", "paddings", "crops"}
"""Attributes that are lists of pairs in TVM."""

SEVERAL = {"qnn.concatenate": 3}
"""Operators on lists that take more than one list."""

NUMBERS: dict[str, tuple[tuple[int, str], ...]] = {
    "nn.pad": ((1, "pad_value"),),
    "arange": ((0, "start"), (1, "stop"), (2, "step")),
}
"""Operands of TVM's, by their place, that are attributes here."""

WHERE_UNKNOWN = {"nn.pad": "dyn.nn.pad"}
"""The operator that takes them as operands when they are not known."""


PACKED = frozenset(("nn.contrib_dense_pack", "qnn.contrib_dense_pack"))
"""Operators whose weights are NC16n in TVM and NK16n here."""

# -- a call as an op ----------------------------------------------------------------------------------


def op_of_call(call: Call) -> tuple[type[RelayOp], list[Expr], dict[str, Any]]:
    """The op class, the operands among the call's arguments and the attributes for `RelayOp.make`."""
    args, attrs = list(call.args), {k: v for k, v in call.attrs.items() if v is not None}
    name = on_blocks(call.op.name, attrs)
    places = NUMBERS.get(name, ())
    if places and len(args) > places[0][0]:
        if all(_known(args[n]) for n, _ in places if n < len(args)):
            for n, key in places:
                if n < len(args):
                    attrs[key] = float(_scalar(args[n]))
            args = args[: places[0][0]]
        elif name in WHERE_UNKNOWN:
            name = WHERE_UNKNOWN[name]
            if "pad_width" in attrs:
                widths = np.asarray(attrs.pop("pad_width"), np.int32)
                args = [args[0], const(widths, "int32"), args[1]]
        else:
            what = ", ".join(key for _, key in places)
            raise UnsupportedError(f"{name}: {what} have to be constants", hint="give numbers")
    cls = op_class(name)
    known = cls.known_attributes()
    if name in PACKED and "weight_layout" in attrs:
        attrs["weight_layout"] = str(attrs["weight_layout"]).replace("C", "K").replace("c", "k")
    for key in [k for k in attrs if k not in known]:
        value = attrs.pop(key)
        if value not in ("", (), False, -1) and key not in _IGNORED:
            raise UnsupportedError(f"{name}: attribute {key!r} is not bridged; it has {', '.join(known) or 'none'}")
    return cls, args, {k: fitted(cls, k, _plain(k, v)) for k, v in attrs.items()}


def fitted(cls: type[RelayOp], key: str, value: Any) -> Any:
    """A number as the attribute wants it: TVM's programs write 2 for 2.0, and 1 for True."""
    wanted = kinds(cls, key)
    if isinstance(value, (list, tuple)):
        items = list(cast("Sequence[Any]", value))
        return [float(v) for v in items] if "ints" not in wanted and "floats" in wanted else items
    if isinstance(value, bool):
        return value if "bool" in wanted else int(value) if "int" in wanted else float(value)
    if isinstance(value, int) and "int" not in wanted:
        if "bool" in wanted:
            return bool(value)
        if "ints" in wanted:
            return [value]
        return float(value) if "float" in wanted else value
    if isinstance(value, float) and "float" not in wanted and "int" in wanted and value.is_integer():
        return int(value)
    return value


_IGNORED = frozenset(("index_rank", "out_layout", "weight_layout", "auto_scheduler_rewritten_layout", "stop", "dtype"))
"""Attributes of TVM's that say what is known here without them."""


def _known(arg: Expr) -> bool:
    return isinstance(arg, Constant) and arg.values.size == 1


def _scalar(arg: Expr) -> Any:
    assert isinstance(arg, Constant)
    return arg.values.reshape(-1)[0]


def _plain(key: str, value: Any) -> Any:
    if isinstance(value, Constant):
        value = value.values.tolist()
    if isinstance(value, (np.ndarray, np.generic)):
        value = cast("Any", value).tolist()
    if not isinstance(value, (list, tuple)):
        return value
    items = list(cast("Sequence[Any]", value))
    if key in PAIRS and items and not isinstance(items[0], (int, np.integer)):
        return [int(n) for pair in items for n in pair]
    return [v.item() if isinstance(v, np.generic) else getattr(v, "value", v) for v in items]


# -- an op as a call ----------------------------------------------------------------------------------


def call_parts(op: RelayOp, args: Sequence[Expr]) -> tuple[str, list[Expr], Attrs]:
    """TVM's operator, its arguments and its attributes, of an op whose operands are some expressions."""
    name = op.name.removeprefix("relay.")
    attrs = {key: from_attribute(value) for key, value in op.properties.items()}
    if name in PACKED:
        attrs["weight_layout"] = attrs["weight_layout"].replace("K", "C").replace("k", "c")
    defaults = op.defaults()
    for key, value in attrs.items():
        if value == () and key in defaults:
            attrs[key] = None
        elif key in PAIRS:
            attrs[key] = tuple(zip(value[::2], value[1::2], strict=True))
    given: list[Expr] = list(args)
    if takes_list(name):
        several = SEVERAL.get(name, 1)
        if several == 1:
            given = [Tuple(given)]
        else:
            n = (len(given) - 2) // several
            given = [Tuple(given[i * n : (i + 1) * n]) for i in range(several)] + given[several * n :]
    for n, key in NUMBERS.get(name, ()):
        dtype = attrs.get("dtype") or str(_element_dtype(op))
        given.insert(n, const(attrs.pop(key), dtype))
    return name, given, Attrs(attrs)


def _element_dtype(op: RelayOp) -> str:
    from lamina.dialects.infos import tensor_info

    return tensor_info(op.results[0].type).dtype


def default_attrs(name: str) -> dict[str, Any]:
    """The attributes that a call of an operator has where it says nothing."""
    return {k: from_attribute(v) for k, v in op_class(name).defaults().items()} if name not in WITH_EFFECTS else {}


def non_default_attrs(name: str, attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Those attributes that the text has to show."""
    if name in WITH_EFFECTS:
        return {k: v for k, v in attrs.items() if v}
    defaults = default_attrs(name)

    def same(key: str, value: Any) -> bool:
        if value is None or (key in defaults and _plain(key, value) == defaults[key]):
            return True
        return isinstance(value, (list, tuple)) and tuple(cast("Sequence[Any]", value)) == defaults.get(key)

    return {k: v for k, v in attrs.items() if not same(k, v)}


# -- types of weights that are not written ------------------------------------------------------------


def missing_type(name: str, place: int, data: Any, attrs: Mapping[str, Any]) -> tuple[tuple[int, ...], str] | None:
    """Shape and dtype of operand `place` of an operator whose first operand has the tensor type `data`.

    None where the operator does not say it.
    """
    rule = _RULES.get(name)
    if rule is None or place == 0:
        return None
    shape = rule(place, tuple(data.shape), dict(attrs))
    return (shape, data.dtype) if shape is not None else None


def _conv(transposed: bool, default: str) -> Callable[[int, tuple[int, ...], dict[str, Any]], tuple[int, ...] | None]:
    def shape(place: int, data: tuple[int, ...], attrs: dict[str, Any]) -> tuple[int, ...] | None:
        return weight_shape(transposed, default, data, attrs) if place == 1 else None

    return shape


def _dense(place: int, data: tuple[int, ...], attrs: dict[str, Any]) -> tuple[int, ...] | None:
    return (attrs["units"], data[-1]) if place == 1 and attrs.get("units") else None


def _channel(default: int) -> Callable[[int, tuple[int, ...], dict[str, Any]], tuple[int, ...] | None]:
    def shape(place: int, data: tuple[int, ...], attrs: dict[str, Any]) -> tuple[int, ...]:
        axis = attrs.get("axis")
        return (data[default if axis is None else axis],)

    return shape


_RULES: dict[str, Callable[[int, tuple[int, ...], dict[str, Any]], tuple[int, ...] | None]] = {
    "nn.conv1d": _conv(False, "OIW"),
    "nn.conv2d": _conv(False, "OIHW"),
    "nn.conv3d": _conv(False, "OIDHW"),
    "nn.conv1d_transpose": _conv(True, "IOW"),
    "nn.conv2d_transpose": _conv(True, "IOHW"),
    "nn.conv3d_transpose": _conv(True, "IODHW"),
    "nn.dense": _dense,
    "nn.bias_add": _channel(1),
    "nn.prelu": _channel(1),
    "nn.batch_norm": _channel(1),
    "nn.instance_norm": _channel(1),
    "nn.group_norm": _channel(1),
    "nn.layer_norm": _channel(-1),
}


# -- results ---------------------------------------------------------------------------------------------------------


def results_of(call: Any) -> int:
    """The number of results of a call of an operator, by its attributes."""
    count = _SIZES.get(call.op.name)
    return count(call) if count is not None else 1


def _split_size(call: Any) -> int:
    parts = call.attrs.indices_or_sections
    return parts if isinstance(parts, int) else len(parts) + 1


_SIZES: Mapping[str, Callable[[Any], int]] = {
    "split": _split_size,
    "topk": lambda call: 2 if call.attrs.ret_type == "both" else 1,
    "meshgrid": lambda call: len(call.args[0].fields),
    "unique": lambda call: 5 if call.attrs.return_counts else 4,
    "dft": lambda call: 2,
    "vision.non_max_suppression": lambda call: 2 if call.attrs.return_indices else 1,
    "vision.get_valid_counts": lambda call: 3,
    "vision.all_class_non_max_suppression": lambda call: 2 if call.attrs.output_format == "onnx" else 3,
    "vision.regular_non_max_suppression": lambda call: 4,
    "vision.multibox_transform_loc": lambda call: 2,
    **dict.fromkeys(
        (f"random.{n}" for n in ("threefry_generate", "threefry_split", "uniform", "normal")), lambda call: 2
    ),
}
