"""What the front door does with bad ONNX models: one line that names file, node and what to do, never a traceback.

Values at run time (wrong input arrays, NaN, shifts, overflow) are tested where models run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, TensorProto, helper, numpy_helper

from lamina.errors import InputError, LaminaError, UsageError
from lamina.frontends.onnx import check_model, load_onnx

sys.path.insert(0, str(Path(__file__).parents[1]))
import models  # noqa: E402

pytestmark = pytest.mark.slow

F = TensorProto.FLOAT
Refused = Callable[..., LaminaError]


def info(name: str, shape: Sequence[Any] | None, kind: int = F) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(
    nodes: Sequence[Any],
    inputs: dict[str, Sequence[Any]] | None = None,
    outputs: Sequence[str] = ("y",),
    weights: dict[str, Any] | None = None,
    opset: int = 17,
    **more: Any,
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [info(n, s) for n, s in ({"x": [1, 4]} if inputs is None else inputs).items()],
        [info(o, None) for o in outputs],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **more)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str] = ("y",), name: str = "guilty", **attrs: Any) -> Any:
    return helper.make_node(op, list(inputs), list(outputs), name=name, **attrs)


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """Imports a model that must be refused; checks the form of the message and that it holds the words."""

    def check(model: ModelProto | bytes, *words: str, status: int = 1, **options: Any) -> LaminaError:
        path = tmp_path / "model.onnx"
        path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        with pytest.raises(LaminaError) as raised:
            load_onnx(path, **options)
        text = str(raised.value)
        assert raised.value.exit_status == status, text
        assert raised.value.where.startswith("model.onnx"), f"names the file: {text}"
        assert raised.value.hint, f"says what to do: {text}"
        assert "\n" not in text
        for word in words:
            assert word in text, text
        return raised.value

    return check


GOOD = model_of([node("Relu", ["x"])])


# -- 1, 2: not a model -----------------------------------------------------------------------------


def test_truncated(refused: Refused) -> None:
    data = model_of([node("Gemm", ["x", "w"])], weights={"w": np.ones((4, 3), np.float32)}).SerializeToString()
    for keep in range(1, len(data)):
        if keep > 2:
            refused(data[:keep])
    refused(data[:60], "not a whole ONNX file (60 bytes)")


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"hello, this is no model\n" * 9, bytes(range(256))])
def test_empty_garbage_text(refused: Refused, data: bytes) -> None:
    refused(data, "not a whole ONNX file")


def test_flipped_bytes(tmp_path: Path) -> None:
    weights = {"w": np.ones((4, 3), np.float32), "shape": np.array([3, 1])}
    model = model_of([node("Gemm", ["x", "w"], ["a"]), node("Reshape", ["a", "shape"])], weights=weights)
    data = model.SerializeToString()
    random = np.random.default_rng(0)
    for _ in range(1500):
        flipped = bytearray(data)
        for place in random.integers(0, len(data), random.integers(1, 4)):
            flipped[place] ^= 1 << int(random.integers(0, 8))
        try:
            load_onnx(bytes(flipped))
        except LaminaError as e:
            assert e.exit_status in (1, 2, 3), e


def test_no_ir_version_and_no_graph(refused: Refused) -> None:
    model = ModelProto()
    model.CopyFrom(GOOD)
    model.ClearField("ir_version")
    refused(model, "no ir_version")
    model.CopyFrom(GOOD)
    model.ClearField("graph")
    refused(model, "no graph")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_onnx(tmp_path / "absent.onnx")
    with pytest.raises(InputError, match="folder"):
        load_onnx(tmp_path)


# -- 3, 4: order and names -------------------------------------------------------------------------


def test_cycle(refused: Refused) -> None:
    model = model_of([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")], outputs=["b"])
    refused(model, 'node "first" (Add, opset 17)', 'the graph has a cycle: "first" -> "second" -> "first"')


def test_node_that_uses_itself(refused: Refused) -> None:
    refused(model_of([node("Add", ["x", "y"])]), "the graph has a cycle", '"guilty" -> "guilty"')


def test_not_sorted(refused: Refused) -> None:
    model = model_of([node("Relu", ["a"], ["y"], "late"), node("Neg", ["x"], ["a"], "early")])
    refused(model, '"late"', 'the input "a" is made only later, by node "early"', "sort the nodes")


def test_missing_initialiser(refused: Refused) -> None:
    model = model_of([node("Add", ["x", "layer1.wieght"])], weights={"layer1.weight": np.ones(4, np.float32)})
    refused(model, '"layer1.wieght" is not defined', "did you mean 'layer1.weight'?", '"guilty"')


# -- 5, 6: what is not supported -------------------------------------------------------------------


def test_all_unsupported_operators_at_once(refused: Refused) -> None:
    nodes = [
        node("StringNormalizer", ["x"], ["a"], "u1"),
        node("StringNormalizer", ["x"], ["b"], "u2"),
        node("Strange", ["x"], ["c"], "s", domain="com.acme"),
        node("NoSuchOp", ["x"], ["d"], "typo"),
        node("Relu", ["x"]),
    ]
    model = model_of(nodes)
    model.opset_import.append(helper.make_opsetid("com.acme", 3))
    e = refused(model, "3 operators are not supported", 'StringNormalizer (opset 17) x2: "u1", "u2"', status=3)
    assert 'com.acme.Strange (opset 3) x1: "s"' in str(e) and 'NoSuchOp (opset 17) x1: "typo"' in str(e)
    report = check_model(model)
    assert not report.ok and report.supported == {"Relu": 1} and report.nodes == 5
    assert [(u.domain, u.op_type, u.version, u.count) for u in report.unsupported] == [
        ("", "StringNormalizer", 17, 2),
        ("", "NoSuchOp", 17, 1),
        ("com.acme", "Strange", 3, 1),
    ]


@pytest.mark.parametrize("opset", [0, 29, 9999])
def test_opset(refused: Refused, opset: int) -> None:
    model = model_of([node("Relu", ["x"])])
    model.opset_import[0].version = opset
    refused(model, f"opset {opset} is not supported", "opsets 1 to", status=3)


def test_ir_version_and_domain(refused: Refused) -> None:
    model = model_of([node("Relu", ["x"])])
    model.ir_version = 9999
    refused(model, "IR version 9999 is not supported", "versions 3 to", status=3)
    refused(model_of([node("Relu", ["x"], domain="org.nowhere")]), "org.nowhere.Relu", "not imported", status=3)
    model.ir_version = 8
    del model.opset_import[:]
    refused(model, "imports no operator set")


# -- 7, 8, 9, 10: sizes ----------------------------------------------------------------------------


def test_negative_dimension(refused: Refused) -> None:
    refused(model_of([node("Relu", ["x"])], {"x": [1, -2]}), 'input "x"', "-2 is negative")
    bad = model_of([node("Add", ["x", "w"])], weights={"w": np.ones(4, np.float32)})
    bad.graph.initializer[0].dims[0] = -4
    refused(bad, 'initialiser "w"', "-4", "negative")


def test_dynamic_dimension(refused: Refused) -> None:
    model = model_of([node("Relu", ["x"])], {"x": ["batch", 4]})
    refused(model, 'the dimension "batch" has no fixed size', "shapes=", status=2)
    assert load_onnx(model, shapes={"x": [3, 4]}).inputs[0].shape == (3, 4)
    assert load_onnx(model, shapes={"batch": 5}).outputs[0].shape == (5, 4)
    with pytest.raises(UsageError, match="did you mean 'x'|no input"):
        load_onnx(model, shapes={"batch": 5, "xx": [1]})


@pytest.mark.parametrize("count", [0, 1, 15, 17, 160])
def test_raw_data_of_another_size(refused: Refused, count: int) -> None:
    model = model_of([node("Add", ["x", "w"])], weights={"w": np.ones(4, np.float32)})
    model.graph.initializer[0].raw_data = b"\0" * count
    refused(model, 'initialiser "w"', f"needs 16 bytes, the data has {count}")


def test_typed_data_of_another_size(refused: Refused) -> None:
    model = model_of([node("Add", ["x", "w"])], weights={"w": np.ones(4, np.float32)})
    model.graph.initializer[0].ClearField("raw_data")
    model.graph.initializer[0].float_data.extend([1.0, 2.0])
    refused(model, "needs 4 values, the data has 2")


def test_product_overflow(refused: Refused) -> None:
    model = model_of([node("Add", ["x", "w"])], weights={"w": np.ones(4, np.float32)})
    del model.graph.initializer[0].dims[:]
    model.graph.initializer[0].dims.extend([1 << 32, 1 << 32])
    refused(model, 'initialiser "w"', f"takes {1 << 66} bytes")
    refused(model_of([node("Relu", ["x"])], {"x": [1 << 32, 1 << 32]}), 'input "x"', "the limit is")


@pytest.mark.parametrize(
    ("op", "operand"),
    [
        ("ConstantOfShape", [1 << 50]),
        ("Expand", [1 << 50, 4]),
        ("Tile", [1 << 25, 1 << 25]),
        ("Pad", [0, 0, 1 << 50, 0]),
    ],
)
def test_huge_results(refused: Refused, op: str, operand: list[int]) -> None:
    inputs = ["n"] if op == "ConstantOfShape" else ["x", "n"]
    refused(
        model_of([node(op, inputs)], weights={"n": np.array(operand)}), '"guilty"', "the limit is", "max_tensor_bytes"
    )


def test_the_limit_is_an_option(refused: Refused) -> None:
    model = model_of([node("Tile", ["x", "n"])], weights={"n": np.array([1000, 1])})
    refused(model, "takes 16000 bytes, the limit is 1000", max_tensor_bytes=1000)
    assert load_onnx(model).outputs[0].shape == (1000, 4)


# -- 11, 13, 14, 15: operands and attributes that do not fit ---------------------------------------


def test_shapes_that_do_not_fit(refused: Refused) -> None:
    w = {"w": np.ones((3, 5), np.float32)}
    refused(model_of([node("MatMul", ["x", "w"])], weights=w), '"guilty" (MatMul', "[1, 4]", "[3, 5]", "inner extents")
    refused(model_of([node("Add", ["x", "w"])], weights=w), '"guilty" (Add', "(1, 4) and (3, 5) do not broadcast")
    refused(model_of([node("Concat", ["x", "w"], axis=0)], weights=w), '"guilty" (Concat')
    refused(model_of([node("Gemm", ["x", "w"])], weights=w), '"guilty" (Gemm', "4 features, weight expects 3")


@pytest.mark.parametrize("shape", [[3, 2], [-1, -1], [-2, 2], [0, 0, 0], [-1, 3]])
def test_reshape(refused: Refused, shape: list[int]) -> None:
    refused(model_of([node("Reshape", ["x", "s"])], weights={"s": np.array(shape)}), '"guilty" (Reshape', str(shape))


def test_constant_index_out_of_range(refused: Refused) -> None:
    for index in (4, -5):
        model = model_of([node("Gather", ["x", "i"], axis=1)], weights={"i": np.array([0, index])})
        refused(model, '"guilty" (Gather', f"index {index} is out of range for an extent of 4")


@pytest.mark.parametrize(
    ("attrs", "words"),
    [
        ({"group": 0}, "groups 0 is out of range"),
        ({"group": 3}, "input has 4 channels, which 3 groups do not divide"),
        ({"strides": [0, 1]}, "stride 0 is out of range"),
        ({"strides": [0, 1], "auto_pad": "SAME_UPPER"}, "stride 0 is out of range"),
        ({"strides": [1, 1, 1]}, "strides has 3 numbers, expects 2"),
        ({"dilations": [1, 0]}, "dilation 0 is out of range"),
        ({"dilations": [9, 1]}, "kernel of 19 does not fit into the padded input of 6"),
        ({"pads": [1 << 31, 0, 0, 0]}, "padding 2147483648 is out of range"),
        ({"pads": [0, 0, 0, -1]}, "padding -1 is out of range"),
        ({"pads": [1, 1]}, "pads has 2 numbers, expects 4"),
        ({"kernel_shape": [2, 2]}, "kernel_size is [2, 2], weight has [3, 3]"),
        ({"auto_pad": "SOMEHOW"}, "'SOMEHOW' does not exist"),
    ],
)
def test_convolution(refused: Refused, attrs: dict[str, Any], words: str) -> None:
    w = {"w": np.ones((2, 4, 3, 3), np.float32)}
    refused(model_of([node("Conv", ["x", "w"], **attrs)], {"x": [1, 4, 6, 6]}, weights=w), '"guilty" (Conv', words)


def test_kernel_larger_than_the_input(refused: Refused) -> None:
    w = {"w": np.ones((2, 3, 5, 5), np.float32)}
    refused(model_of([node("Conv", ["x", "w"])], {"x": [1, 3, 4, 4]}, weights=w), "kernel of 5 does not fit")
    refused(
        model_of([node("Conv", ["x", "w"])], {"x": [1, 4, 8, 8]}, weights=w), "input has 4 channels, weight expects 3"
    )
    pool = node("MaxPool", ["x"], kernel_shape=[9, 9])
    refused(model_of([pool], {"x": [1, 3, 4, 4]}), '"guilty" (MaxPool', "kernel of 9 does not fit")


@pytest.mark.parametrize(
    ("op", "attrs", "words"),
    [
        ("Transpose", {"perm": [0, 0]}, "perm [0, 0] is no permutation"),
        ("Transpose", {"perm": [0, 1, 2]}, "perm [0, 1, 2] is no permutation"),
        ("Softmax", {"axis": 2}, "axis 2 is out of range for rank 2"),
        ("Flatten", {"axis": -3}, "axis -3 is out of range for rank 2"),
        ("Concat", {"axis": 7}, "axis 7 is out of range"),
        ("Softmax", {"axis": 1.5}, 'attribute "axis" is of type FLOAT, expects INT'),
        ("Softmax", {"axis": "x"}, "is of type STRING, expects INT"),
        ("Softmax", {"axes": 1}, "did you mean 'axis'?"),
        ("Concat", {}, 'the attribute "axis" is missing'),
        ("ReduceMean", {"axes": [0, -2]}, "name an axis twice"),
        ("Cast", {"to": 8}, "casts of strings are not supported"),
        ("Cast", {"to": 999}, "element type 999 does not exist"),
        ("Squeeze", {}, ""),
    ],
)
def test_attributes(refused: Refused, op: str, attrs: dict[str, Any], words: str) -> None:
    model = model_of([node(op, ["x"], **attrs)])
    if op == "Squeeze":  # an axis of extent 4, given as an input
        model = model_of([node(op, ["x", "a"])], weights={"a": np.array([1])})
        words = "axis 1 has extent 4"
    refused(model, f'"guilty" ({op}', words, status=3 if "not supported" in words else 1)


def test_number_of_inputs_and_outputs(refused: Refused) -> None:
    refused(model_of([node("Relu", ["x", "x"])]), "2 inputs, expects 1")
    refused(model_of([node("Add", ["x"])]), "1 inputs, expects 2")
    refused(model_of([node("Add", ["x", ""])]), "input 1 is missing")
    refused(model_of([node("Relu", ["x"], ["y", "z"])]), "2 outputs, expects 1")


@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_integer_division_by_a_constant_zero(refused: Refused, op: str) -> None:
    weights = {"a": np.array([1, 2]), "b": np.array([1, 0])}
    refused(model_of([node(op, ["a", "b"])], weights=weights), f'"guilty" ({op}', "divides an integer by zero")


# -- 20, 21: names ---------------------------------------------------------------------------------


def test_duplicate_names_and_no_outputs(refused: Refused) -> None:
    refused(
        model_of([node("Relu", ["x"], ["a"]), node("Neg", ["x"], ["a"], "second")], outputs=["a"]),
        '"a" is defined twice',
        '"second"',
    )
    refused(model_of([node("Relu", ["x"], ["x"])], outputs=["x"]), '"x" is defined twice')
    refused(model_of([node("Relu", ["x"])], outputs=[]), "the graph has no outputs")
    refused(model_of([node("Relu", ["x"])], outputs=["yy"]), 'the output "yy" is computed by no node')
    refused(model_of([node("Relu", ["x"])], outputs=["y", "y"]), 'the output "y" is listed twice')
    twice = model_of([node("Add", ["x", "w"])], weights={"w": np.ones(4, np.float32)})
    twice.graph.initializer.append(twice.graph.initializer[0])
    refused(twice, 'the initialiser "w" is defined twice')


NAMES = [
    "a\0b",
    'quo"te',
    "new\nline",
    "../../etc/passwd",
    "ünï©ode 名前",
    "%0",
    "-1",
    "a" * 1_000_000,
    "@main",
    "\\",
    "‮",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_weird_names_are_kept_and_never_reach_symbols(name: str, refused: Refused) -> None:
    weights = {f"w{name}": np.arange(1024, dtype=np.float32)}
    nodes = [node("Add", [name, f"w{name}"], [f"t{name}"], name), node("Relu", [f"t{name}"], [f"y{name}"], name)]
    model = model_of(nodes, {name: [1, 1024]}, [f"y{name}"], weights)
    imported = load_onnx(model)
    assert [p.name for p in imported.inputs + imported.outputs] == [name, f"y{name}"]
    text = str(imported.module)
    imported.module.verify()
    assert "\0" not in text and text.count("\n") < 12
    # The same names in a message: escaped, cut, on one line.
    e = refused(
        model_of(
            [*nodes[:1], node("Concat", [f"t{name}"], [f"y{name}"], name)], {name: [1, 1024]}, [f"y{name}"], weights
        )
    )
    assert len(str(e)) < 600 and "\0" not in str(e)


# -- 22, 23, 24: depth and length ------------------------------------------------------------------


def field(number: int, payload: bytes) -> bytes:
    def varint(value: int) -> bytes:
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)

    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested_if(depth: int) -> bytes:
    """Ifs in one another, as bytes: protobuf's own builder refuses to nest so deep."""
    graph = field(1, node("Relu", ["x"], ["b"]).SerializeToString()) + field(2, b"g")
    for k in range(depth):
        then = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"  # type = GRAPH
        branch = field(1, b"c") + field(2, b"y") + field(3, b"if%d" % k) + field(4, b"If") + field(5, then)
        graph = field(1, branch) + field(2, b"g")
    shell = model_of([], {"x": [1, 4], "c": [1]})
    inputs = shell.graph.SerializeToString()
    shell.ClearField("graph")
    return shell.SerializeToString() + field(7, graph + inputs)


def test_nested_subgraphs(refused: Refused) -> None:
    refused(nested_if(20), "(If, opset 17)", 'the attribute "else_branch" is missing')
    refused(nested_if(60), "nested deeper than 24", status=3)


def test_a_chain_of_50_000_nodes() -> None:
    """`bench/time_laws.py` has its time, which is linear."""
    assert load_onnx(models.chain_model(50_000)).outputs[0].shape == (4, 16)


def test_recursive_local_function(refused: Refused) -> None:
    def function(name: str, calls: str) -> FunctionProto:
        body = [helper.make_node(calls, ["a"], ["b"], domain="local")]
        return helper.make_function("local", name, ["a"], ["b"], body, [helper.make_opsetid("local", 1)])

    model = model_of([node("F", ["x"], domain="local")])
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.functions.extend([function("F", "G"), function("G", "F")])
    refused(model, 'the local function "F" calls itself: "F" -> "G" -> "F"')


def test_a_function_that_calls_itself_in_a_branch(refused: Refused) -> None:
    result = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph([helper.make_node("F", ["a"], ["t"], domain="local")], name, [], [result])
        for name in ("then", "else")
    }
    body = [
        helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True])),
        helper.make_node("If", ["c"], ["b"], **branches),
    ]
    opsets = [helper.make_opsetid("local", 1), helper.make_opsetid("", 17)]
    model = model_of([node("F", ["x"], domain="local")])
    model.opset_import.append(opsets[0])
    model.functions.append(helper.make_function("local", "F", ["a"], ["b"], body, opsets))
    refused(model, 'the local function "F" calls itself: "F" -> "F"')


def test_functions_that_double(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.frontends.onnx import bodies

    monkeypatch.setattr(bodies, "MOST_NODES", 5_000)
    opsets = [helper.make_opsetid("local", 1), helper.make_opsetid("", 17)]
    model = model_of([node("F40", ["x"], domain="local")])
    model.opset_import.append(opsets[0])
    for k in range(41):
        calls = f"F{k - 1}" if k else "Relu"
        domain = "local" if k else ""
        body = [
            helper.make_node(calls, ["a"], ["m"], domain=domain),
            helper.make_node(calls, ["m"], ["b"], domain=domain),
        ]
        model.functions.append(helper.make_function("local", f"F{k}", ["a"], ["b"], body, opsets))
    refused(model, "more than 5000 nodes")


# -- 26, 27: external data -------------------------------------------------------------------------


def external_model(location: str, **entries: str) -> ModelProto:
    model = model_of([node("Add", ["x", "w"])], weights={"w": np.ones(4, np.float32)})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return model


def test_external_data_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(b"\0" * 8 + np.arange(4, dtype=np.float32).tobytes())
    (tmp_path / "m.onnx").write_bytes(external_model("data/w.bin", offset="8", length="16").SerializeToString())
    assert "2.000000e+00, 3.000000e+00" in str(load_onnx(tmp_path / "m.onnx").module)
    with pytest.raises(LaminaError, match="give the path of the model"):
        load_onnx(external_model("data/w.bin"))


@pytest.mark.parametrize("location", ["../../etc/passwd", "/etc/passwd", "a/../../b", "", "a\0b", "..\\x", "..", "."])
def test_external_data_outside_the_folder(refused: Refused, location: str) -> None:
    refused(external_model(location), 'initialiser "w"', "external data")


def test_links_devices_and_bad_offsets(refused: Refused, tmp_path: Path) -> None:
    data = tmp_path / "w.bin"
    data.write_bytes(b"\0" * 16)
    (tmp_path / "soft").symlink_to(data)
    (tmp_path / "folder").symlink_to(tmp_path)
    refused(external_model("soft"), "symbolic link")
    refused(external_model("folder/w.bin"), "symbolic link")
    for key, value in (
        ("offset", "-1"),
        ("offset", str(1 << 62)),
        ("offset", "1"),
        ("length", "15"),
        ("length", "1e3"),
    ):
        refused(external_model("w.bin", **{key: value}), "external data")
    os.mkfifo(tmp_path / "pipe")
    refused(external_model("pipe"), "no regular file")
    refused(external_model("absent.bin"), "No such file")
    os.link(data, tmp_path / "hard")
    refused(external_model("hard"), "hard link")
