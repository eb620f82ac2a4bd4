"""`relay.frontend`: importers of ONNX, of PyTorch's scripts, and of what else is read without its framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from lamina.compat.tvm.imports import NO_FOLDER
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.nd import NDArray, array
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamAttr
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.aten.builder import AtenBuilder, OwnConverter
from lamina.frontends.aten.graph import DType
from lamina.frontends.builder import Value
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text import ty
from lamina.frontends.tvm_text.walk import post_order
from lamina.ir.tvm_names import not_bridged

__path__ = NO_FOLDER


def from_onnx(
    model: Any,
    shape: Mapping[str, Any] | None = None,
    dtype: Any = "float32",
    opset: int | None = None,
    freeze_params: bool = True,
    convert_config: Any = None,
    export_node_renamed_model_path: str | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """An ONNX model (a ModelProto, its bytes or a path) as a module, and its weights.

    Weights are constants of the module and the second result is empty, as since TVM 0.10, unless `freeze_params` is
    False: then the large ones are parameters of `main` with the model's names. A dict of dtypes says those of inputs,
    one dtype for all says nothing, as in TVM; `opset` reads the model as one of that version.
    `export_node_renamed_model_path` is a file for the model with a name for each node. What `convert_config` changes is
    how TVM writes a product, not its value. Raises LaminaError.
    """
    from lamina.frontends.onnx import load_onnx

    dtypes: Mapping[str, Any] = cast("Mapping[str, Any]", dtype) if isinstance(dtype, Mapping) else {}
    if dtypes or opset is not None or export_node_renamed_model_path is not None:
        model = _edited(model, dtypes, opset, export_node_renamed_model_path)
    shapes = {name: _extents(name, given) for name, given in (shape or {}).items()}
    imported = load_onnx(model, shapes or None)
    mod = IRModule.of_ir(imported.module, imported.store)
    return (mod, {}) if freeze_params else _with_params(mod)


def from_pytorch(
    script_module: Any,
    input_infos: Sequence[Any],
    custom_convert_map: Mapping[str, Any] | None = None,
    default_dtype: str = "float32",
    use_parser_friendly_name: bool = False,
    keep_quantized_weight: bool = False,
    export_renamed_c_graph_path: str | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """A script of PyTorch's (`torch.jit.trace`, the bytes or the path of one) as a module, and its weights.

    `input_infos` has a name for each input, in order, with a shape, or a shape and a type: `("x", (1, 3))`,
    `("x", ((1,), "int64"))`. The weights are parameters of `main` with the model's names. `custom_convert_map` has
    converters by operators, `"aten::relu"`: functions from the call's arguments and their types, expressions among
    them, to an expression. Raises LaminaError.
    """
    from lamina.frontends.aten.graph import Input
    from lamina.frontends.aten.importer import import_graph
    from lamina.frontends.torchscript.script import traced_graph

    own = {name.replace("::", ".").removeprefix("aten."): _own(c) for name, c in (custom_convert_map or {}).items()}
    inputs: list[Input] = []
    for name, given in input_infos:
        shape, dtype = given if len(given) == 2 and isinstance(given[1], str) else (given, default_dtype)
        inputs.append(Input(str(name), tuple(int(e) for e in shape), {"float": "float32"}.get(dtype, dtype)))
    source = script_module.save_to_buffer() if hasattr(script_module, "save_to_buffer") else script_module
    graph = traced_graph(source, {}, inputs=inputs, own=own)
    imported = import_graph(graph, named_weights=True, own=own)
    return _with_params(IRModule.of_ir(imported.module, imported.store))


def from_tensorflow(
    graph: Any,
    layout: str | None = "NHWC",
    shape: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    convert_config: Any = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """A GraphDef (the message, its bytes, the path of one or of a SavedModel) as a module, and its weights.

    `shape` gives the shapes of placeholders that leave them open, `outputs` the results, by default all values that
    nobody takes. Weights are parameters of `main` with the names of their nodes. With the layout NCHW convolutions and
    pools of images are converted to it. What `convert_config` changes is how TVM writes a product, not its value.
    Raises LaminaError.
    """
    from lamina.frontends.network import import_network
    from lamina.frontends.tensorflow.model import read_network
    from lamina.frontends.tensorflow.table import TABLE

    if layout not in (None, "default", "NHWC", "NCHW"):
        raise UnsupportedError(f"the layout {layout!r} is not supported", hint="NHWC keeps that of the graph")
    shapes = {name: _extents(name, given) for name, given in (shape or {}).items()}
    source = graph.SerializeToString() if hasattr(graph, "SerializeToString") else graph
    network = read_network(source, shapes, outputs)
    imported = import_network(network, TABLE, shapes or None, named_weights=True)
    mod = IRModule.of_ir(imported.module, imported.store)
    if layout == "NCHW":
        from lamina.compat.tvm.relay.transform import ConvertLayout

        mod = ConvertLayout({name: ["NCHW", "default"] for name in _OF_IMAGES})(mod)
    return _with_params(mod)


_OF_IMAGES = ("nn.conv2d", "nn.conv2d_transpose", "nn.max_pool2d", "nn.avg_pool2d")


def from_keras(
    model: Any, shape: Mapping[str, Any] | None = None, layout: str = "NCHW"
) -> tuple[IRModule, dict[str, NDArray]]:
    """A model of Keras's, Sequential or functional, as a module, and its weights.

    `shape` has those of inputs by the names of their layers; an open batch is 1. As in TVM, images of the layout NCHW
    stand so in inputs and results whatever the model's own order is, and with NHWC, NWC or NDHWC all are as in the
    model. The weights are parameters of `main` with the names of their layers. The model is written into a temporary
    file and read from there. Raises LaminaError.
    """
    from tempfile import TemporaryDirectory

    from lamina.frontends.keras.from_model import import_model

    if layout not in ("NCHW", "NHWC", "NWC", "NDHWC"):
        raise UnsupportedError(f"the layout {layout!r} is not supported", hint="NCHW, NHWC, NWC or NDHWC")
    shapes = {name: _extents(name, given) for name, given in (shape or {}).items()}
    with TemporaryDirectory() as folder:
        path = f"{folder}/{getattr(model, 'name', 'model')}.keras"
        model.save(path)
        imported = import_model(path, shapes or None, layout == "NCHW")
    return _with_params(IRModule.of_ir(imported.module, imported.store))


def from_tflite(
    model: Any,
    shape_dict: Mapping[str, Any] | None = None,
    dtype_dict: Mapping[str, Any] | None = None,
    op_converter: Any = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """A TensorFlow Lite model (`tflite.Model.Model`, its bytes or a path) as a module, and its weights.

    The weights are parameters of `main` with the model's names. `shape_dict` gives inputs other shapes; `dtype_dict`
    may say the types of inputs, which are those of the file. Variables become inputs and outputs that follow the
    others. Raises LaminaError; UnsupportedError for an `op_converter` of one's own.
    """
    from lamina.frontends.tflite.importer import load_tflite

    if op_converter is not None:
        hint = "write a converter: frontends/tflite/convert_*.py"
        raise UnsupportedError("a converter class of one's own is not supported", hint=hint)
    table = getattr(model, "_tab", None)
    source = model if table is None else bytes(table.Bytes)
    shapes = {name: _extents(name, given) for name, given in (shape_dict or {}).items()}
    imported = load_tflite(source, shapes or None, named_weights=True)
    known = {p.name: p.dtype for p in imported.inputs}
    for name, dtype in (dtype_dict or {}).items():
        if known.get(name, str(dtype)) != str(dtype):
            raise InputError(f"input {name!r} is {known[name]}, not {dtype}", hint="leave its type out")
    return _with_params(IRModule.of_ir(imported.module, imported.store))


def from_mxnet(
    symbol: Any,
    shape: Any = None,
    dtype: Any = "float32",
    arg_params: Mapping[str, Any] | None = None,
    aux_params: Mapping[str, Any] | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """A symbol of MXNet's as a module, and its weights, which are parameters of `main` with their names.

    `symbol` is what has `tojson`, or the JSON itself; `lamina.compat.mxnet.model.load_checkpoint` reads both files of a
    checkpoint where MXNet is not there. Labels of losses are left out. Raises LaminaError.
    """
    from lamina.compat.tvm.relay.network_importers import mxnet_model

    imported = mxnet_model(symbol, shape, dtype, arg_params, aux_params)
    return _with_params(IRModule.of_ir(imported.module, imported.store))


def from_darknet(net: Any, shape: Any = None, dtype: Any = "float32") -> tuple[IRModule, dict[str, NDArray]]:
    """A network of Darknet's as a module, and its weights.

    `net` is a pair of paths (net.cfg, net.weights), or has them as attributes `cfg` and `weights`: TVM's is a structure
    of Darknet's own library, which does not say them. The results are TVM's: the last layer, and behind each yolo layer
    its masks, anchors and sizes, behind each region layer the last two. Raises LaminaError.
    """
    from lamina.compat.tvm.relay.network_importers import darknet_model

    if dtype != "float32":
        raise UnsupportedError(f"weights of {dtype} are not supported", hint="they are float32 in the file")
    imported = darknet_model(net, shape)
    return _with_params(IRModule.of_ir(imported.module, imported.store))


def from_caffe(
    init_net: Any, predict_net: Any, shape_dict: Any = None, dtype_dict: Any = None
) -> tuple[IRModule, dict[str, NDArray]]:
    """A network of Caffe's as a module, and its weights.

    `init_net` is the NetParameter with the weights, its bytes or the path of a `.caffemodel`; `predict_net` that of the
    layers, its text or the path of a `.prototxt`. Types other than float32 are not supported. Raises LaminaError.
    """
    from lamina.compat.tvm.relay.network_importers import caffe_model

    is_map = isinstance(dtype_dict, Mapping)
    dtypes = cast("Mapping[str, Any]", dtype_dict) if is_map else {"": dtype_dict or "float32"}
    if other := [d for d in dtypes.values() if d != "float32"]:
        raise UnsupportedError(f"an input of {other[0]} is not supported", hint="a network of Caffe takes float32")
    imported = caffe_model(init_net, predict_net, shape_dict)
    return _with_params(IRModule.of_ir(imported.module, imported.store))


def _own(converter: Any) -> OwnConverter:
    """A converter of TVM's form as one of ours: what it makes of variables is put in the place of the call."""

    def convert(b: AtenBuilder, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        operands: dict[e.Var, Value] = {}

        def given(a: Any) -> Any:
            if isinstance(a, Value):
                variable = e.Var(f"x{len(operands)}", ty.TensorType(a.shape, a.dtype))
                operands[variable] = a
                return variable
            if isinstance(a, (list, tuple)):
                return [given(x) for x in a]  # pyright: ignore[reportUnknownVariableType]
            return a.name if isinstance(a, DType) else a

        listed = [*args, *kwargs.values()]
        types = [a.dtype if isinstance(a, Value) else type(a).__name__ for a in listed]
        made = converter([given(a) for a in listed], types)
        module, store = IRModule.from_expr(e.Function([*operands], e.as_expr(made))).ir()
        copy = module.clone()
        for op in copy.walk():
            if isinstance(op, ConstantOp) and isinstance(op.value, ParamAttr):
                b.store.add(op.value.key.data, store.get(op.value))
        results = b.inlined(copy, [b.ssa(v) for v in operands.values()])
        return results[0] if len(results) == 1 else tuple(results)

    return convert


def _with_params(mod: IRModule) -> tuple[IRModule, dict[str, NDArray]]:
    """The module with its weights as parameters of `main`, and these by name."""
    main = mod["main"]
    params: dict[str, NDArray] = {}
    binds: dict[e.Expr, e.Expr] = {}
    for node in post_order(main.body):
        origin = node.__dict__.get("_origin") if isinstance(node, e.Constant) else None
        value = origin[0].value if origin is not None else None
        if isinstance(node, e.Constant) and isinstance(value, ParamAttr):
            name = value.key.data
            params.setdefault(name, array(node.values))
            binds[node] = next((v for v in binds.values() if v.name_hint == name), None) or e.Var(
                name, node.checked_type
            )
    from lamina.compat.tvm.relay.expr_functor import Substitution

    body = Substitution(binds).visit(main.body)
    variables = list(dict.fromkeys(v for v in binds.values() if isinstance(v, e.Var)))
    return IRModule.from_expr(e.Function([*main.params, *variables], body)), params


def _extents(name: str, given: Any) -> Any:
    """A shape for our importer, which has no open extents."""
    dims: list[Any] = list(cast("list[Any]", given)) if isinstance(given, (list, tuple)) else []
    if any(d is ty.Any() or d is None for d in dims):
        hint = "give it a number, or lamina.compile, which compiles each shape"
        raise UnsupportedError(f"input {name!r}: an extent stays open", hint=hint)
    return dims or cast("Any", given)


def _edited(model: Any, dtypes: Mapping[str, Any], opset: int | None, path: str | None) -> Any:
    """A copy of a model with other types of inputs, another version, and names for all nodes, written into a file."""
    import onnx

    from lamina.dialects.dtypes import numpy_dtype
    from lamina.te.expr import dtype_of

    proto: Any = onnx.ModelProto()
    if isinstance(model, bytes):
        proto.ParseFromString(model)
    elif isinstance(model, onnx.ModelProto):
        proto.CopyFrom(model)
    else:
        proto = onnx.load(model)  # pyright: ignore[reportUnknownMemberType]
    known = {value.name: value for value in proto.graph.input}
    for name, dtype in dtypes.items():
        if name in known:
            kind = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(dtype_of(dtype)))
            known[name].type.tensor_type.elem_type = kind
    if dtypes:  # what was declared of other values follows from the inputs
        del proto.graph.value_info[:]
        for value in proto.graph.output:
            value.ClearField("type")
    if opset is not None:
        for entry in proto.opset_import:
            if entry.domain in ("", "ai.onnx"):
                entry.version = opset
    if path is not None:
        for number, node in enumerate(proto.graph.node):
            node.name = node.name or f"{node.op_type}_{number}"
        onnx.save(proto, path)  # pyright: ignore[reportUnknownMemberType]
    return proto


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise not_bridged(f"relay.frontend.{name}", __all__)


__all__ = [
    "from_caffe",
    "from_darknet",
    "from_keras",
    "from_mxnet",
    "from_onnx",
    "from_pytorch",
    "from_tensorflow",
    "from_tflite",
]
