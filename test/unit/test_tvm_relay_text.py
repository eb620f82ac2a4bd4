"""TVM's text of Relay: what is read and printed, and what is said of mistakes."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import parser
from lamina.compat.tvm import relay as _relay
from lamina.errors import LaminaError

pytestmark = pytest.mark.slow

relay: Any = _relay


def body(text: str) -> Any:
    return parser.parse(f"def @main(%x: Tensor[(2, 3), float32], %c: bool) {{ {text} }}")["main"].body


def test_a_module_is_printed_as_tvm_prints_it() -> None:
    x = relay.var("x", shape=(1, 3))
    halves = relay.split(relay.nn.relu(x), [1], axis=1)
    main = relay.Function([x], relay.Tuple([halves[0], relay.sum(halves[1], axis=[1]) * relay.const(0.5)]))
    assert (
        tvm.IRModule.from_expr(main).astext()
        == """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3), float32]) -> (Tensor[(1, 1), float32], Tensor[(1), float32]) {
  %0 = nn.relu(%x);
  %1 = split(%0, indices_or_sections=[1], axis=1);
  %2 = sum(%1.1, axis=[1]);
  %3 = multiply(%2, 0.5f /* ty=float32 */);
  (%1.0, %3)
}
"""
    )


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("3", "int32", 3), ("-3", "int32", -3), ("3i64", "int64", 3), ("200u8", "uint8", 200), ("-7i8", "int8", -7),
        ("1f", "float32", 1), ("0.0186579f", "float32", np.float32(0.0186579)), ("5.39136e-05f", "float32",
        np.float32(5.39136e-05)), ("1.5f16", "float16", 1.5), ("2.5f64", "float64", 2.5), ("2.5", "float64", 2.5),
        ("True", "bool", True), ("False", "bool", False),
    ],
)  # fmt: skip
def test_numbers_have_the_dtype_that_they_say(text: str, dtype: str, value: Any) -> None:
    found = relay.parse_expr(text)
    assert found.data.dtype == dtype and found.data.numpy() == value
    again = relay.parse_expr(found.astext())
    assert again.data.dtype == dtype and again.data.numpy().tobytes() == found.data.numpy().tobytes()


def test_random_numbers_are_read_back_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    for dtype, raw in (("float32", "uint32"), ("float64", "uint64"), ("float16", "uint16")):
        values = rng.integers(0, np.iinfo(raw).max, 200, dtype=raw).view(dtype)
        for v in values[np.isfinite(values)]:
            found = relay.parse_expr(relay.const(np.array(v), dtype).astext()).data.numpy()
            assert found.dtype == dtype and found.tobytes() == np.array(v).tobytes()


def test_operators_bind_as_in_tvm() -> None:
    assert tvm.ir.structural_equal(
        body("%x + %x * 2f - %x / 4f"),
        (lambda x: x + x * relay.const(2.0) - x / relay.const(4.0))(relay.var("x", shape=(2, 3))),
        map_free_vars=True,
    )
    compared = body("%x + 1f <= %x * %x")
    assert compared.op.name == "less_equal" and [a.op.name for a in compared.args] == ["add", "multiply"]


def test_comments_and_nested_blocks_are_read() -> None:
    found = body(
        "/* a /* nested */ one */ let %y = { let %z = exp(%x); %z + %z }; // the end\n if (%c) { %y } else { %x }"
    )
    assert isinstance(found, relay.Let) and isinstance(found.value, relay.Let)
    assert isinstance(found.body, relay.If)


def test_types_of_every_kind_are_read_and_printed() -> None:
    first = "%f: fn (int32, (bool, Tensor[(?, 3), uint8])) -> ref(float16)"
    text = f"fn ({first}, %t: (float32,), %n: Tensor[(n), int8]) {{ %t }}"
    types = [p.checked_type for p in relay.parse_expr(text).params]
    assert [str(t) for t in types] == [
        "fn (int32, (bool, Tensor[(?, 3), uint8])) -> ref(float16)", "(float32,)", "Tensor[(n), int8]",
    ]  # fmt: skip
    assert types[0].arg_types[1].fields[1].shape[0] is relay.Any() and types[1].fields[0].shape == ()


def test_attributes_of_functions_and_calls_are_read() -> None:
    found = relay.parse_expr('fn (%x: float32, Primitive=1, Composite="a.b", "odd key"=[1, 2]) { %x }')
    assert dict(found.attrs) == {"Primitive": 1, "Composite": "a.b", "odd key": (1, 2)}
    assert dict(relay.parse_expr(found.astext()).attrs) == dict(found.attrs)
    pad = body("nn.pad(%x, 1f, pad_width=[[0, 0], [1, 2]])")
    assert pad.attrs.pad_width == ((0, 0), (1, 2))
    assert body("clip(%x, a_min=-inf, a_max=6f)").attrs.a_min == -np.inf


def test_constants_of_tvms_own_metadata_are_read() -> None:
    values = np.arange(6, dtype="int8").reshape(2, 3)
    raw = relay.save_param_dict({"a": values})
    array = raw[8 * 3 + 8 + 1 + 8 :]
    metadata = {
        "root": 1,
        "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
            {"type_key": "Array", "data": [3]},
            {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0"}},
        ],
        "b64ndarrays": [base64.b64encode(bytes(array)).decode()],
        "attrs": {"tvm_version": "0.8.0"},
    }
    text = f"def @main() {{ meta[relay.Constant][0] }}\n#[metadata]\n{json.dumps(metadata)}"
    found = parser.parse(text)["main"].body.data.numpy()
    assert found.dtype == np.int8 and np.array_equal(found, values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def @main(%x: Tensor[(2), float32]) {\n  exp(%y)\n}", "f.rly:2:7: there is no %y here"),
        ("def @main(%x: Tensor[(2), float32]) {\n  convv(%x)\n}", "f.rly:2:3: there is no operator 'convv'"),
        ("def @main(%x: Tensor[(2), flot32]) { %x }", "f.rly:1:27: 'flot32' is no dtype"),
        ("def @main(%x: Tensor[(2), int8]) {\n  exp(%x, axis=1)\n}", "f.rly:2:3: exp: attribute 'axis' is not bridged"),
        ("def @main(%x: int8, %x: int8) { %x }", "f.rly:1:21: two parameters are called %x"),
        ("def @a() { 1 } def @a() { 2 }", "f.rly:1:20: @a is defined twice"),
        ("def @main(%x: int8) { %x", "f.rly:1:25: expected '}', got 'the end'"),
        ("def @main(%x: int8) { %x } }", "f.rly:1:28:"),
        ("def @main() { meta[relay.Constant][3] }", "f.rly:1:15: there is no constant 3 in the metadata"),
        ("def @main() { 1 }\n#[metadata]\n{", "f.rly:2:1: the metadata is damaged"),
        ("def @main() { 300u8 }", "f.rly:1:15: 300 is no uint8"),
        ("def @main() { 1 } /* open", "f.rly:1:19: the comment does not end"),
        ("def @main(%x: int8) { %x.first }", "f.rly:1:23"),
        ("def @main(%x: (int8, int8)) {\n  %x.2\n}", "f.rly:2:3: no field 2 in a tuple of 2"),
        ("def @main(%x: int8) { match (%x) { } }", "f.rly:1:23: a match has no clause"),
        ("type L { N, N }", "f.rly:1:13: the constructor N is defined twice"),
        ("type L { N }\ntype L { M }", "f.rly:2:6: the data type L is defined twice"),
        ("def @main(%x: int8) { match (%x) { N => 1 } }", "f.rly:1:36: there is no constructor N"),
        ("def @main(%x: int8) { " + "exp(" * 200 + "%x" + ")" * 200 + " }", "expressions inside one another"),
        ("def @main(%x: int8) {\n  @gone(%x)\n}", "there is no function @gone"),
        ("def @main(%x: int8) {\n  %0 = %x;\n  %0 = %x;\n  %0\n}", "f.rly:3:3: %0 has a value already"),
    ],
)
def test_mistakes_are_reported_at_their_place(text: str, said: str) -> None:
    with pytest.raises(LaminaError) as caught:
        parser.parse(text, "f.rly")
    assert said in str(caught.value)


def test_no_text_makes_the_parser_fail_otherwise() -> None:
    """Cut and changed texts are read or refused with a place."""
    x = relay.var("x", shape=(2, 3))
    program = relay.Function([x], relay.If(relay.const(True), relay.nn.pad(x, ((0, 1), (0, 0))), relay.exp(x) + x))
    good = IR_TEXT + relay.Function([x], relay.Tuple([program(x)])).astext()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        at = int(rng.integers(len(good)))
        kind = int(rng.integers(3))
        wrong = good[:at] if kind == 0 else good[:at] + good[at + 1 :] if kind == 1 else (
            good[:at] + "(){}[],;:=.%@\"/*-0a"[int(rng.integers(19))] + good[at:]
        )  # fmt: skip
        try:
            parser.fromtext(wrong)
        except LaminaError:
            refused += 1
    assert refused > 100


IR_TEXT = '#[version = "0.0.5"]\n'
