"""Symbols of MXNet: operators and a small network as MXNet 1.9.1 computes them, and refusals."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.frontends.mxnet.arrays import V1, V2, V3, arrays_at, params_beside
from lamina.frontends.mxnet.reader import TABLE, read_symbol
from lamina.frontends.network import import_network
from lamina.interpreters.relay_reference import main_function, run_relay

from .two_files import ALL, FEW, checked, damages, interpreted, refusal

INPUTS = Path(__file__).parent / "inputs" / "mxnet"
NET = INPUTS / "net-symbol.json"
SHAPES = {"data": [2, 3, 16, 12]}
CASES: dict[str, Any] = json.loads((INPUTS / "cases.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def stored() -> Any:
    with np.load(INPUTS / "cases.npz") as found:
        return dict(found)


@pytest.mark.parametrize("name", CASES)
def test_an_operator_computes_what_mxnet_computes(name: str, stored: Any) -> None:
    inputs = {n: stored[f"{name}/{n}"] for n in "abcd" if f"{name}/{n}" in stored}
    shapes = {n: list(v.shape) for n, v in inputs.items()}
    made = import_network(read_symbol(json.dumps(CASES[name]), name, shapes), TABLE, shapes)
    found = run_relay(main_function(made.module), [inputs[p.name] for p in made.inputs], made.store)
    for k, y in enumerate(found):
        expected = stored[f"{name}/{k}"]
        if name == "multibox_detection":  # MXNet leaves score and box of what overlaps a better one
            expected = np.where(expected[:, :, :1] == -1, np.float32(-1), expected)
        assert (y.shape, y.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(y, expected, rtol=2e-4, atol=2e-5)
    assert f"{name}/{len(found)}" not in stored


def test_a_network_computes_what_mxnet_computes(tmp_path: Path) -> None:
    with np.load(INPUTS / "net.npz") as found:
        y = lamina.compile(NET, shapes=SHAPES, threads=1)(found["x"])
        np.testing.assert_allclose(y, found["y"], rtol=1e-4, atol=1e-5)


def test_the_commands_know_the_format(tmp_path: Path) -> None:
    status, out, _ = checked("check", str(NET))
    assert status == 0 and "nodes are supported" in out
    status, out, _ = checked("run", str(NET), "--shape", "data=1,3,16,12")
    assert status == 0 and "float32[1, 5]" in out
    status, _, err = checked("compile", str(NET))
    assert status == 3 and "the input data has no shape; give it: --shape data=1,3,224,224" in err.replace('"', "")


# -- old forms -------------------------------------------------------------------------------------


def symbol(*nodes: dict[str, Any], heads: Any = None) -> str:
    return json.dumps({"nodes": list(nodes), "arg_nodes": [0], "heads": heads or [[len(nodes) - 1, 0]]})


VARIABLE: dict[str, Any] = {"op": "null", "name": "data", "inputs": [], "attrs": {"__shape__": "(2, 3)"}}


def node(op: str, *inputs: int, **attrs: str) -> dict[str, Any]:
    return {"op": op, "name": op.lower(), "inputs": [[k, 0, 0] for k in inputs], "attrs": attrs}


def array(values: Any, version: int = V2, kind: int = 0) -> bytes:
    """An array as a version of MXNet writes it; 0 is the form before all numbers."""
    data = np.asarray(values, "<f4")
    extents = struct.pack(f"<{data.ndim}{'q' if version else 'I'}", *data.shape)
    head = struct.pack("<I", version) if version else b""
    head += struct.pack("<i", 0) if version in (V2, V3) else b""
    return head + struct.pack("<I", data.ndim) + extents + struct.pack("<iii", 1, 0, kind) + data.tobytes()


def params(**arrays: bytes) -> bytes:
    names = [n.replace("_", ":", 1).encode() for n in arrays]
    body = struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(arrays.values()) + struct.pack("<Q", len(names))
    return body + b"".join(struct.pack("<Q", len(n)) + n for n in names)


def write(folder: Path, text: str, data: bytes, epoch: str = "-0000") -> Path:
    path = folder / "own-symbol.json"
    path.write_text(text, "utf-8")
    (folder / f"own{epoch}.params").write_bytes(data)
    return path


@pytest.mark.parametrize("version", [0, V1, V2, V3])
@pytest.mark.parametrize("key", ["attr", "param", "attrs"])
def test_versions_of_arrays_and_of_attributes(tmp_path: Path, version: int, key: str) -> None:
    w = np.arange(6).reshape(2, 3)
    attrs = {"num_hidden": "2", "no_bias": "True"}
    dense: dict[str, Any] = {"op": "FullyConnected", "name": "fc", "inputs": [[0, 0], [1, 0]], key: attrs}
    weight: dict[str, Any] = {"op": "null", "name": "w", "inputs": []}
    path = write(tmp_path, symbol(VARIABLE, weight, dense), params(arg_w=array(w, version)))
    x = np.asarray([[1, 2, 3], [4, 5, 6]], np.float32)
    np.testing.assert_allclose(interpreted(path, x)[0], x @ w.T)


def test_gamma_is_one_unless_it_says_otherwise(tmp_path: Path) -> None:
    names = ("gamma", "beta", "mean", "variance")
    nodes: list[dict[str, Any]] = [VARIABLE, *({"op": "null", "name": n, "inputs": []} for n in names)]
    data = params(arg_gamma=array([5, 5, 5]), arg_beta=array([0, 0, 0]), aux_mean=array([0, 0, 0]),
                  aux_variance=array([1, 1, 1]))  # fmt: skip
    x = np.ones((2, 3), np.float32)
    for fix, expected in (({}, 1), ({"fix_gamma": "False"}, 5)):
        path = write(tmp_path, symbol(*nodes, node("BatchNorm", 0, 1, 2, 3, 4, eps="1e-9", **fix)), data)
        np.testing.assert_allclose(interpreted(path, x)[0], expected, rtol=1e-5)


def test_the_highest_epoch_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path, symbol(VARIABLE, node("relu", 0)), params())
    (tmp_path / "own-0012.params").write_bytes(params())
    (tmp_path / "other-0099.params").write_bytes(params())
    found = params_beside(path)
    assert found is not None and found.name == "own-0012.params"


# -- refusals --------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, str]] = {
    "no json": ("{", "is no symbol of MXNet: JSONDecodeError"),
    "a list": ("[]", "is no symbol of MXNet: TypeError"),
    "no nodes": ('{"nodes": [], "heads": [[0, 0, 0]]}', "there is no node 0"),
    "no heads": ('{"nodes": [], "heads": []}', "has no output"),
    "deep": ("[" * 100_000, "is no symbol of MXNet"),
    "a circle": (symbol(VARIABLE, node("relu", 1)), "takes what is not there yet"),
    "an input that is not there": (symbol(VARIABLE, node("relu", 7)), "takes what is not there yet"),
    "a head that is not there": (symbol(VARIABLE, node("relu", 0), heads=[[9, 0]]), "there is no node 9"),
    "a result that is not there": (symbol(VARIABLE, node("relu", 0), heads=[[1, 3]]), "gives 1 results, 4 are asked"),
    "many results": (symbol(VARIABLE, node("relu", 0), heads=[[1, 10**9]]), "there is no node 1"),
    "an operator": (symbol(VARIABLE, node("Custom", 0)), "Custom x1: custom (no converter)"),
    "no operands": (symbol(VARIABLE, node("relu")), "cannot be imported: TypeError"),
    "too many operands": (symbol(VARIABLE, node("relu", 0, 0, 0)), "cannot be imported: TypeError"),
    "two variables": (symbol(VARIABLE, VARIABLE, node("relu", 0)), "has two variables of one name"),
    "a word": (symbol(VARIABLE, node("clip", 0, a_min="x")), "cannot be imported: ValueError"),
    "a truth value": (symbol(VARIABLE, node("sum", 0, keepdims="maybe")), "maybe is no truth value"),
    "an axis": (symbol(VARIABLE, node("sum", 0, axis="9")), "axis 9 is out of range"),
    "a shape": (symbol(VARIABLE, node("Reshape", 0, shape="(7, -1)")), "does not become"),
    "a split": (symbol(VARIABLE, node("Reshape", 0, shape="(-4,)")), "does not fit"),
    "parts": (symbol(VARIABLE, node("split", 0, num_outputs="2")), "do not divide into 2 parts"),
    "a kernel": (symbol(VARIABLE, node("Pooling", 0, kernel="(2, 2)")), "of float32[2, 3] is not supported"),
    "a size": (symbol(VARIABLE, node("tile", 0, reps="(99999999, 99999999)")), "the limit is"),
    "a negative size": (symbol(VARIABLE, node("_zeros", shape="(-1,)"), heads=[[1, 0]]), ""),
    "a long range": (symbol(VARIABLE, node("_arange", start="0", stop="1e15"), heads=[[1, 0]]), "are out of range"),
    "depth": (symbol(VARIABLE, node("one_hot", 0, depth="999999999999")), "the limit is"),
    "a product": (symbol(VARIABLE, node("dot", 0, 0)), "multiplies"),
    "a type": (symbol(VARIABLE, node("Cast", 0, dtype="float13")), ""),
    "an activation": (symbol(VARIABLE, node("Activation", 0, act_type="wild")), "act_type = wild is not supported"),
    "a tuple": (symbol(VARIABLE, node("transpose", 0, axes="(a, b)")), "is no tuple of numbers"),
    "a state": (symbol(VARIABLE, node("RNN", 0, 0, 0, mode="lstm", state_size="3", num_layers="1")), "1 layers of 3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, said = REFUSED[name]
    path = write(tmp_path, text, params())
    error = refusal(path)
    assert error is not None and said in str(error).replace('"', ""), str(error)
    status, _, err = checked("compile", str(path), "--no-cache")
    assert status in (1, 3) and err.count("\n") == 1, err


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no arrays of MXNet"),
        (b"\xb7\x9c" * 20, "holds no arrays of MXNet"),
        (params(arg_w=array([1]))[:-1], "ends too early"),
        (struct.pack("<QQQ", 0x112, 0, 1 << 60), "ends too early"),
        (struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<IiI", V2, 0, 99), "holds no arrays of MXNet that are whole"),
        (struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<IiIqiii", V2, 0, 1, 1 << 50, 1, 0, 0), "ends too early"),
        (struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<IIqq", V1, 2, 0, 1 << 62) + bytes(99), "that are whole"),
        (params(arg_w=array([1], kind=77)), "has an array of type 77"),
        (params(arg_w=array([1])).replace(struct.pack("<Ii", V2, 0), struct.pack("<Ii", V2, 1)), "has a sparse array"),
    ],
)
def test_arrays_that_are_damaged(tmp_path: Path, data: bytes, said: str) -> None:
    path = write(tmp_path, symbol(VARIABLE, node("relu", 0)), data)
    with pytest.raises((InputError, UnsupportedError)) as caught:
        lamina.load(path)
    assert said in str(caught.value)


def test_the_second_file(tmp_path: Path) -> None:
    path = write(tmp_path, symbol(VARIABLE, node("relu", 0)), params())
    with pytest.raises(InputError, match=r"own-0000.params: holds weights without the network; give own-symbol.json"):
        lamina.load(tmp_path / "own-0000.params")
    with pytest.raises(InputError, match="cannot be read from bytes"):  # as its first bytes say
        lamina.load(b'{\n  "nodes": [\n    {\n      "op": "null", \n      "name": "data"')
    (tmp_path / "own-0000.params").unlink()
    with pytest.raises(InputError, match="its weights are not beside it; put it there as own-0000.params"):
        lamina.load(path)


def test_arrays_keep_their_types() -> None:
    found = arrays_at(INPUTS / "net-0000.params")
    assert all(n.startswith(("arg:", "aux:")) and a.dtype == np.float32 for n, a in found.items())


def test_a_shape_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(LaminaError):
        lamina.load(NET, {"data": [2, 3]})
    with pytest.raises(UsageError, match="there is no input"):
        lamina.load(NET, {**SHAPES, "other": [1]})


@pytest.mark.parametrize("count", (FEW, ALL))
def test_damaged_files_are_read_or_refused(count: int, tmp_path: Path) -> None:
    assert damages(NET, INPUTS / "net-0000.params", tmp_path, count, shapes=SHAPES) > 2 * count // 3
