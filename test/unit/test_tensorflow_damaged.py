"""Graphs of TensorFlow's that are wrong: one line says what and where, at once, and nothing large is made."""

from __future__ import annotations

import random
import shutil
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from lamina.cli import command as cli
from lamina.errors import LaminaError
from lamina.frontends.tensorflow.format import FORMAT

from .two_files import FEW, MOST_SECONDS

sys.path.insert(0, str(Path(__file__).parent))
import tensorflow_messages as m  # noqa: E402
from tensorflow_messages import (  # noqa: E402
    FLOAT,
    INT,
    RESOURCE,
    STRING,
    constant,
    function,
    graph,
    node,
    part,
    placeholder,
    tensor,
)

INPUTS = Path(__file__).parent / "inputs" / "tensorflow"
X = placeholder("x", [2, 3])
CALL = m.called("f")
HUGE = 1 << 60


def relu(*inputs: str) -> bytes:
    return graph(X, node("Relu", "y", *inputs))


def doubled(depth: int) -> bytes:
    """Functions that call the next one twice each."""
    last = function(f"f{depth}", ["a"], {"r": "n:y:0"}, node("Neg", "n", "a"))
    calls = [
        function(
            f"f{k}", ["a"], {"r": "q:output:0"},
            node("PartitionedCall", "p", "a", f=m.called(f"f{k + 1}")),
            node("PartitionedCall", "q", "p:output:0", f=m.called(f"f{k + 1}")),
        )
        for k in range(depth)
    ]  # fmt: skip
    return graph(X, node("PartitionedCall", "y", "x", f=m.called("f0")), functions=[*calls, last])


def chained(length: int) -> bytes:
    """Functions that call the next one once each."""
    last = function(f"f{length}", ["a"], {"r": "a"})
    calls = [
        function(f"f{k}", ["a"], {"r": "p:output:0"}, node("PartitionedCall", "p", "a", f=m.called(f"f{k + 1}")))
        for k in range(length)
    ]
    return graph(X, node("PartitionedCall", "y", "x", f=m.called("f0")), functions=[*calls, last])


def nested(depth: int) -> bytes:
    """Loops of 200 trips in loops of 200 trips, whose trips are all known."""
    bodies = [function("b0", ["i"], {"r": "n:z:0"}, constant("one", m.array(1)), node("Add", "n", "i", "one:output:0"))]
    for k in range(1, depth):
        inner = node("StatelessWhile", "w", "zero:output:0", cond=m.called("c"), body=m.called(f"b{k - 1}"))
        unit = node("Minimum", "u", "w:output:0", "one:output:0")
        further = node("Add", "n", "i", "u:z:0")
        constants = constant("zero", m.array(0)), constant("one", m.array(1))
        bodies.append(function(f"b{k}", ["i"], {"r": "n:z:0"}, *constants, inner, unit, further))
    less = node("Less", "l", "i", "most:output:0")
    condition = function("c", ["i"], {"r": "l:z:0"}, constant("most", m.array(200)), less)
    loop = node("StatelessWhile", "w", "zero", cond=m.called("c"), body=m.called(f"b{depth - 1}"))
    return graph(constant("zero", m.array(0)), loop, functions=[condition, *bodies])


def of_splat(extents: list[int], *nodes: bytes) -> bytes:
    """A graph on a constant `c` of one number, which takes no memory."""
    return graph(constant("c", tensor(FLOAT, extents, None, part(5, b"\0\0\x80\x3f"))), *nodes)


WRONG = {
    "nothing": (b"", 1, "has no nodes"),
    "a length beyond the end": (b"\x0a\xff\xff\xff\xff\x7f", 1, "the bytes are no message"),
    "a number that does not end": (b"\xff" * 20, 1, "the bytes are no message"),
    "groups of fields": (b"\x0b\x0c", 1, "the bytes are no message"),
    "a node that is a number": (m.number(1, 5), 1, "the bytes are no message"),
    "a node without a name or an operator": (graph(b""), 3, "no converter"),
    "two nodes of one name": (graph(X, X), 1, 'two nodes have the name "x"'),
    "a value that is not there": (relu("z"), 1, 'there is no node "z"'),
    "a value that is taken of itself": (
        graph(X, node("Relu", "y", "y"), node("Neg", "z", "y")), 1, 'the node "y" takes what it gives',
    ),
    "a node whose name is that of a value": (graph(X, node("Relu", "y:1", "x")), 1, '"y:1" is no name of a node'),
    "a circle": (
        graph(node("Relu", "a", "b"), node("Relu", "b", "a"), node("Neg", "c", "a")), 1, "takes what it gives",
    ),
    "an output that is no number": (relu("x:1:2:3"), 1, '"x:1:2:3" is no value'),
    "an output that is not there": (graph(X, node("Relu", "r", "x"), node("Neg", "y", "r:5")), 3, "gives 1 results"),
    "an output of a great number": (relu("y2:999999999"), 1, "there is no node"),
    "an operator that nobody knows": (graph(X, node("Frobnicate", "y", "x")), 3, "Frobnicate x1"),
    "control flow of TensorFlow 1": (
        graph(X, node("Enter", "e", "x"), node("Merge", "g", "e", "n"), node("NextIteration", "n", "g"),
              node("Exit", "o", "g")), 3,
        "control flow of TensorFlow 1",
    ),
    "too few operands": (graph(X, node("Add", "y", "x")), 1, "takes 2 operands, got 1"),
    "too few operands of a convolution": (graph(X, node("Conv2D", "y", "x")), 1, "cannot be imported"),
    "a constant without a value": (graph(node("Const", "c"), node("Neg", "y", "c")), 3, "has no value in the file"),
    "a constant that is not as large as its shape": (
        graph(constant("c", tensor(FLOAT, [2, 2], bytes(12))), node("Neg", "y", "c")), 1,
        "12 bytes are no float32[2, 2]",
    ),
    "a constant of a huge shape": (
        graph(constant("c", tensor(FLOAT, [HUGE, HUGE])), node("Neg", "y", "c")), 1, "the limit is",
    ),
    "a constant of a shape below zero": (
        graph(constant("c", tensor(FLOAT, [-5])), node("Neg", "y", "c")), 1, "is negative",
    ),
    "more numbers than a constant has": (
        graph(constant("c", tensor(INT, [1], None, part(7, b"\1\2\3"))), node("Neg", "y", "c")), 1,
        "3 numbers are no int32[1]",
    ),
    "a constant that is no message": (
        graph(node("Const", "c", value=part(8, b"\xff\xff")), node("Neg", "y", "c")), 1, "is no message of a tensor",
    ),
    "text": (graph(constant("c", tensor(STRING, [])), node("Identity", "y", "c")), 3, "type string"),
    "a placeholder of a resource": (graph(placeholder("x", [], RESOURCE), node("Neg", "y", "x")), 3, "type resource"),
    "a huge placeholder": (graph(placeholder("x", [HUGE, 9]), node("Neg", "y", "x")), 1, "the limit is"),
    "a huge result": (
        graph(constant("n", m.array([1 << 30, 1 << 30])), constant("v", m.array(1)), node("Fill", "y", "n", "v")), 1,
        "the limit is",
    ),
    "a huge range": (
        graph(constant("a", m.array(0)), constant("b", m.array(1e30, "float32")), constant("d", m.array(1)),
              node("Range", "y", "a", "b", "d")), 1, "the limit is",
    ),
    "loops in loops": (nested(8), 0, ""),
    "a long range": (
        graph(constant("a", m.array(0)), constant("b", m.array((1 << 31) - 1)), constant("d", m.array(1)),
              node("Range", "y", "a", "b", "d")), 3, "elements are more than",
    ),
    "places of a large constant": (of_splat([1 << 28], node("Where", "y", "c")), 3, "elements are more than"),
    "a shape of many extents": (of_splat([1 << 28], node("Reshape", "y", "c", "c")), 3, "elements are more than"),
    "a band of a large matrix": (
        of_splat([1 << 15, 1 << 15], constant("k", m.array(1)), node("MatrixBandPart", "y", "c", "k", "k")), 3,
        "elements are more than",
    ),
    "an image of great size": (
        of_splat([1, 1 << 14, 1, 1], constant("s", m.array([1 << 16, 1])), node("ResizeBicubic", "y", "c", "s")), 3,
        "elements are more than",
    ),
    "a constant of a few numbers and many more": (
        graph(constant("c", tensor(FLOAT, [1 << 30], None, part(5, bytes(8)))), node("Neg", "y", "c")), 3,
        "elements that are not all said",
    ),
    "a large constant computed with": (
        of_splat([1 << 30], node("Neg", "n", "c"), node("Softmax", "y", "n")), 0, "",
    ),
    "strides of zero": (
        graph(X, constant("n", m.array([0, 0])), node("StridedSlice", "y", "x", "n", "n", "n")), 1, "a stride is 0",
    ),
    "a reshape to another size": (
        graph(X, constant("n", m.array([4, -1])), node("Reshape", "y", "x", "n")), 1, "has no shape [4, 1]",
    ),
    "an axis out of range": (
        graph(X, constant("n", m.array([7])), node("Sum", "y", "x", "n")), 1, "axis 7 is out of range",
    ),
    "a convolution of no layout": (
        graph(X, node("Conv2D", "y", "x", "x", data_format=part(2, "NWHC"))), 3, "the layout NWHC is not supported",
    ),
    "a convolution without padding": (
        graph(placeholder("x", [1, 4, 4, 1]), constant("w", m.array([[[[1.0]]]], "float32")),
              node("Conv2D", "y", "x", "w")), 1, "the padding is None",
    ),
    "a function that calls itself": (
        graph(X, node("PartitionedCall", "y", "x", f=CALL), functions=[
            function("f", ["a"], {"r": "p:output:0"}, node("PartitionedCall", "p", "a", f=CALL))]),
        1, 'the function "f" calls itself',
    ),
    "a function that is not there": (graph(X, node("PartitionedCall", "y", "x", f=CALL)), 1, 'no function "f"'),
    "a function of other operands": (
        graph(X, node("PartitionedCall", "y", "x", "x", f=CALL), functions=[function("f", ["a"], {"r": "a"})]), 1,
        "takes 1 values, 2 are given",
    ),
    "a function without its result": (
        graph(X, node("PartitionedCall", "y", "x", f=CALL), functions=[function("f", ["a"], {"r": ""})]), 1,
        'the result "r" is not given',
    ),
    "functions that are a million nodes": (doubled(30), 1, "has more than"),
    "functions in functions": (chained(2000), 1, "is called too deep"),
    "a variable without a value": (
        graph(node("VarHandleOp", "v"), node("ReadVariableOp", "y", "v")), 3, "the variable has no value in the file",
    ),
    "a loop that never ends": (
        graph(X, node("While", "y", "x", cond=m.called("c"), body=CALL), functions=[
            function("c", ["a"], {"r": "k:output:0"}, constant("k", m.array(1))), function("f", ["a"], {"r": "a"})]),
        0, "",
    ),
    "a loop that loses a value": (
        graph(X, node("While", "y", "x", "x", cond=m.called("c"), body=CALL), functions=[
            function("c", ["a", "b"], {"r": "k:output:0"}, constant("k", m.array(1))),
            function("f", ["a", "b"], {"r": "a"})]), 1, "a trip makes 1 values of 2",
    ),
    "a SavedModel for training": (m.saved_model(relu("x"), {"x": "x:0"}, {"y": "y:0"}, ("train",)), 0, ""),
    "a SavedModel without a graph": (b"\x08\1\x12\0", 2, "no signature is 'serving_default'"),
    "a signature of what is not there": (
        m.saved_model(relu("x"), {"x": "z:0"}, {"y": "y:0"}), 1, 'input "x" is no node',
    ),
    "a signature without an input": (m.saved_model(relu("x"), {}, {"y": "y:0"}), 3, "the signature does not name"),
    "a SavedModel without outputs": (m.saved_model(relu("x"), {"x": "x:0"}, {}), 1, "the signature has no outputs"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_graph_that_is_wrong_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    data, status, said = WRONG[what]
    (tmp_path / "wrong.pb").write_bytes(data)
    begin = time.process_time()
    if status:
        with pytest.raises(LaminaError) as caught:
            FORMAT.read(tmp_path / "wrong.pb")
        text = str(caught.value)
        assert caught.value.exit_status == status and said in text and "\n" not in text, text
        assert text.startswith(str(tmp_path / "wrong.pb")) and len(text) < 500
    else:
        FORMAT.read(tmp_path / "wrong.pb")
    assert time.process_time() - begin < MOST_SECONDS


VARIABLE = m.saved_model(
    graph(node("VarHandleOp", "v", shared_name=part(2, "weight")), node("ReadVariableOp", "y", "v")), {}, {"y": "y:0"}
)
SHARDS = {"": m.number(1, 1)}
BUNDLES = {
    "no table": (b"hello", "is no index of a checkpoint"),
    "a footer alone": (bytes(40) + (0xDB4775248B80FB57).to_bytes(8, "little"), "is no index of a checkpoint"),
    "a tensor behind the end": (SHARDS | {"weight": m.entry(FLOAT, [4], 8, 16)}, "16 bytes at 8 are no float32[4]"),
    "a tensor before the begin": (SHARDS | {"weight": m.entry(FLOAT, [4], -4, 16)}, "16 bytes at -4"),
    "a tensor of another size": (SHARDS | {"weight": m.entry(FLOAT, [3], 0, 16)}, "are no float32[3]"),
    "a tensor of a huge shape": (SHARDS | {"weight": m.entry(FLOAT, [HUGE], 0, 16)}, "the limit is"),
    "a shard that is not there": (SHARDS | {"weight": m.entry(FLOAT, [4], 0, 16, 3)}, "is in shard 3 of 1"),
    "a shard of a number below zero": (SHARDS | {"weight": m.entry(FLOAT, [4], 0, 16, -1)}, "is in shard -1 of 1"),
    "a shard whose file is missing": (
        {"": m.number(1, 1 << 40), "weight": m.entry(FLOAT, [4], 0, 16, 1 << 33)}, "cannot be read",
    ),
    "no such tensor": (SHARDS | {"other": m.entry(FLOAT, [4], 0, 16)}, "the variable has no value in the file"),
    "a path in the place of a tensor": (SHARDS | {"../../x": m.entry(FLOAT, [4], 0, 16)}, "has no value in the file"),
}  # fmt: skip


@pytest.mark.parametrize("what", BUNDLES)
def test_a_checkpoint_that_is_wrong_is_refused(what: str, tmp_path: Path) -> None:
    given, said = BUNDLES[what]
    (tmp_path / "saved_model.pb").write_bytes(VARIABLE)
    (tmp_path / "variables").mkdir()
    (tmp_path / "variables" / "variables.data-00000-of-00001").write_bytes(bytes(16))
    (tmp_path / "variables" / "variables.index").write_bytes(given if isinstance(given, bytes) else m.table(given))
    with pytest.raises(LaminaError) as caught:
        FORMAT.read(tmp_path)
    assert said in str(caught.value) and caught.value.exit_status in (1, 3), str(caught.value)


def test_a_checkpoint_of_our_own_making_is_read(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(VARIABLE)
    (tmp_path / "variables").mkdir()
    (tmp_path / "variables" / "variables.data-00000-of-00001").write_bytes(b"\0\0\x80\x3f" * 4)
    (tmp_path / "variables" / "variables.index").write_bytes(m.table(SHARDS | {"weight": m.entry(FLOAT, [4], 0, 16)}))
    assert "dense<1.000000e+00> : tensor<4xf32>" in str(FORMAT.read(tmp_path).module)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The bytes with some changed, taken out, put in or cut off."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        at, way = draw.randrange(max(len(changed), 1)), draw.randrange(6)
        if way < 2 and changed:
            changed[at] = changed[at] ^ 1 << draw.randrange(8) if way else draw.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif way == 2:
            del changed[at : at + draw.choice((1, 4, 50))]
        elif way == 3:
            changed[at:at] = draw.randbytes(draw.choice((1, 3, 10)))
        elif way == 4:
            del changed[at:]
        else:
            first = draw.randrange(max(len(changed), 1))
            changed[at : at + 16] = changed[first : first + 16]
    return bytes(changed)


@pytest.mark.parametrize("seed", [n if n < FEW else pytest.param(n, marks=pytest.mark.long) for n in range(300)])
def test_a_damaged_file_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    sources = [*sorted(INPUTS.glob("*.pb")), *sorted(p.parent for p in INPUTS.glob("*/saved_model.pb")) * 3]
    source, target = draw.choice(sources), tmp_path / "damaged.pb"
    if source.is_dir():
        target = tmp_path / "damaged"
        shutil.copytree(source, target)
        file = draw.choice(sorted(p for p in target.rglob("*") if p.is_file() and p.suffix != ".npz"))
        file.write_bytes(mutated(file.read_bytes(), draw))
    else:
        target.write_bytes(mutated(source.read_bytes(), draw))
    begin = time.process_time()
    try:
        FORMAT.read(target)
    except LaminaError as e:
        assert e.exit_status in (1, 3) and "\n" not in str(e) and len(str(e)) < 1000
    assert time.process_time() - begin < MOST_SECONDS


def test_the_command_line_says_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "wrong.pb").write_bytes(relu("z"))
    for command in ("check", "compile", "run"):
        err = StringIO()
        assert cli.run([command, str(tmp_path / "wrong.pb")], StringIO(), err) == 1
        assert err.getvalue().count("\n") == 1 and 'there is no node "z"' in err.getvalue()
