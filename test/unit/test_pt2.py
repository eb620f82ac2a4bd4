"""Programs that torch.export.save writes: read without torch, and refused in one line where they are damaged."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

import lamina
from lamina.cli import command as cli
from lamina.errors import LaminaError

INPUTS = Path(__file__).parent / "inputs" / "pt2"
NET = INPUTS / "net.pt2"


def checked(path: Path) -> tuple[int, str, str]:
    """The status of `lamina check`, and what it writes."""
    out, err = StringIO(), StringIO()
    return cli.run(["check", str(path)], out, err), out.getvalue(), err.getvalue()


def test_a_program_computes_what_torch_computed() -> None:
    data = json.loads((INPUTS / "net.json").read_text("utf-8"))
    exe = lamina.compile(NET, threads=1)
    found = exe(np.asarray(data["x"], np.float32).reshape(2, 2, 4, 4))
    for value, expected in zip(found, data["results"], strict=True):
        np.testing.assert_allclose(value.reshape(-1), expected, rtol=1e-5, atol=1e-6)
    assert [v.dtype.name for v in found] == ["float32", "float32", "int64", "float64"]


@pytest.mark.parametrize("name", ["control", "region", "recurrent"])
def test_programs_of_a_kind_compute_what_torch_computed(name: str) -> None:
    data = json.loads((INPUTS / f"{name}.json").read_text("utf-8"))
    exe = lamina.compile(INPUTS / f"{name}.pt2", threads=1)
    x = np.asarray(data["x"], np.float32).reshape(4, 3)
    for number, results in zip(data["numbers"], data["results"], strict=True):
        for value, expected in zip(exe(x, np.int64(number)), results, strict=True):
            np.testing.assert_allclose(value.reshape(-1), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["kept", "kept_functional"])
def test_buffers_that_a_program_changes_are_the_state_of_a_session(name: str) -> None:
    data = json.loads((INPUTS / "kept.json").read_text("utf-8"))
    exe = lamina.compile(INPUTS / f"{name}.pt2", threads=1)
    assert sorted(i.name for i in exe.inputs) == ["n", "norm.running_mean", "total", "x"]
    session = exe.session()
    x = np.asarray(data["x"], np.float32).reshape(4, 3)
    for _ in range(2):
        for number, results in zip(data["numbers"], data["results"], strict=True):
            for value, expected in zip(session(x, np.int64(number)), results, strict=True):
                np.testing.assert_allclose(np.asarray(value).reshape(-1), expected, rtol=1e-5, atol=1e-6)
        session.reset()


def test_a_change_of_what_is_no_weight_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(rewritten(_changing_nothing))
    status, _, err = checked(path)
    assert status == 1 and "nowhere is changed, and is no weight" in err


def _changing_nothing(model: Any) -> Any:
    specs = model["graph_module"]["signature"]["output_specs"]
    argument = specs[0]["user_output"]["arg"]["as_tensor"]
    specs.append({"buffer_mutation": {"arg": argument, "buffer_name": "nowhere"}})
    return model


def test_weights_have_the_models_names_and_calls_their_modules() -> None:
    text = str(lamina.load(NET).module)
    assert "%conv_weight" in text
    locations = {str(op.location) for op in lamina.load(NET).module.walk() if op.name == "relay.nn.conv2d"}
    assert any('"conv"' in where and "make.py" in where for where in locations)


@pytest.mark.parametrize("name", ["net.pt2", "copy.bin", "copy.zip"])
def test_a_program_is_known_by_its_suffix_or_its_members(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(NET.read_bytes())
    status, out, _ = checked(path)
    assert status == 0 and re.search(r"all \d+ nodes are supported", out)


def test_other_shapes_than_those_of_a_program_are_refused() -> None:
    with pytest.raises(LaminaError, match=r"contradicts the extent 2 of the program"):
        lamina.load(NET, {"x": [1, 2, 4, 4]})


def test_an_infinite_number_is_a_word_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "net.pt2").write_bytes(rewritten(_with_a_word))
    found = lamina.compile(tmp_path / "net.pt2", threads=1)(np.ones((2, 2, 4, 4), np.float32))
    assert np.isinf(found[0]).all()


def _with_a_word(model: Any) -> Any:
    """The softmax over the last axis is multiplied with an infinite number."""
    graph = model["graph_module"]["graph"]
    (last,) = (n for n in graph["nodes"] if "softmax" in n["target"])
    name = last["outputs"][0]["as_tensor"]["name"]
    inputs = [{"as_tensor": {"name": name}}, {"as_float": "Infinity"}]
    made = {**last, "target": "torch.ops.aten.mul.Tensor", "outputs": [{"as_tensor": {"name": "wide"}}]}
    made["inputs"] = [{"name": n, "arg": a, "kind": 1} for n, a in zip(("self", "other"), inputs, strict=True)]
    graph["nodes"].append(made)
    graph["tensor_values"]["wide"] = graph["tensor_values"][name]
    model["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"]["as_tensor"]["name"] = "wide"
    return model


# -- damaged and hostile files ---------------------------------------------------------------------


def rewritten(change: Callable[[Any], Any], member: str = "models/model.json", method: int = 0) -> bytes:
    """The archive with a description that is another."""
    made = BytesIO()
    with ZipFile(NET) as old, ZipFile(made, "w", method) as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.endswith(member):
                data = json.dumps(change(json.loads(data))).encode()
            new.writestr(info.filename, data)
    return made.getvalue()


def changed(*path: Any, to: Any) -> Callable[[Any], Any]:
    """A description with the value at a path set."""

    def apply(data: Any) -> Any:
        at = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to
        return data

    return apply


GRAPH = ("graph_module", "graph")
FIRST = (*GRAPH, "nodes", 0, "inputs", 0, "arg")
WEIGHTS = "model_weights_config.json"
TYPE = (*GRAPH, "tensor_values", "x")
HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "half": NET.read_bytes()[:12000],
    "only a name": b"PK\3\4" + bytes(200),
    "compressed": rewritten(lambda d: d, method=ZIP_DEFLATED),
    "no graph": rewritten(lambda d: {}),
    "a list": rewritten(lambda d: [d]),
    "another schema": rewritten(changed("schema_version", "major", to=99)),
    "a number for nodes": rewritten(changed(*GRAPH, "nodes", to=7)),
    "a node of nothing": rewritten(changed(*GRAPH, "nodes", 0, to={})),
    "an unknown operator": rewritten(changed(*GRAPH, "nodes", 0, "target", to="torch.ops.aten.mine.default")),
    "a Python call": rewritten(changed(*GRAPH, "nodes", 0, "target", to="os.system")),
    "an argument of no kind": rewritten(changed(*FIRST, to={"as_pickle": "x"})),
    "a value that is not there": rewritten(changed(*FIRST, to={"as_tensor": {"name": "no"}})),
    "too few arguments": rewritten(changed(*GRAPH, "nodes", 0, "inputs", to=[])),
    "a huge extent": rewritten(changed(*TYPE, "sizes", 0, to={"as_int": 1 << 60})),
    "a negative extent": rewritten(changed(*TYPE, "sizes", 0, to={"as_int": -4})),
    "an open extent": rewritten(changed(*TYPE, "sizes", 0, to={"as_expr": {"expr_str": "s0"}})),
    "no such type": rewritten(changed(*TYPE, "dtype", to=999)),
    "complex": rewritten(changed(*TYPE, "dtype", to=10)),
    "an extent of text": rewritten(changed(*TYPE, "sizes", 0, to={"as_int": "two"})),
    "a weight beyond its data": rewritten(
        changed("config", "linear.weight", "tensor_meta", "storage_offset", "as_int", to=1 << 40),
        WEIGHTS),
    "a weight with negative strides": rewritten(
        changed("config", "linear.weight", "tensor_meta", "strides", 0, to={"as_int": -3}), WEIGHTS),
    "a pickled weight": rewritten(changed("config", "linear.weight", "use_pickle", to=True), WEIGHTS),
    "a weight elsewhere": rewritten(
        changed("config", "linear.weight", "path_name", to="../../etc/passwd"), WEIGHTS),
    "no weights": rewritten(changed("config", to={}), WEIGHTS),
    "deep": rewritten(changed("guards_code", to=json.loads("[" * 800 + "]" * 800))),
    "infinite": rewritten(changed(*GRAPH, "nodes", 2, "inputs", 0, "name", to="Infinity")),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_damaged_program_is_refused_in_one_line(tmp_path: Path, what: str) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(HOSTILE[what])
    status, out, err = checked(path)
    assert "Traceback" not in err
    if what in ("deep", "infinite"):  # what is not looked at does no harm
        assert status in (0, 1, 3)
        return
    told = err if status == 1 else err + out
    assert status in (1, 3) and len(told.strip().splitlines()) <= 3, told


def mutated(seed: int) -> bytes:
    """The archive with a few bytes changed, cut off, or parts of it swapped."""
    draw, data = random.Random(seed), bytearray(NET.read_bytes())
    for _ in range(draw.choice((1, 3, 20))):
        place = draw.randrange(len(data))
        kind = draw.randrange(4)
        if kind == 0:
            data[place] = draw.randrange(256)
        elif kind == 1:
            data[place] ^= 1 << draw.randrange(8)
        elif kind == 2:
            end = min(len(data), place + draw.randrange(1, 40))
            data[place:end] = draw.randbytes(end - place)
        else:
            del data[place : place + draw.randrange(1, 40)]
    return bytes(data)


def read_or_refuse(data: bytes) -> None:
    try:
        lamina.load(data)
    except LaminaError as e:
        assert e.exit_status in (1, 2, 3), e


def test_mutated_programs_are_read_or_refused() -> None:
    for seed in range(60):
        read_or_refuse(mutated(seed))


@pytest.mark.long
def test_many_mutated_programs_are_read_or_refused() -> None:
    for seed in range(60, 400):
        read_or_refuse(mutated(seed))


class Tensor:
    """A tensor of another library, which has nothing but DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.asked = 0

    def __dlpack__(self, **options: Any) -> Any:
        self.asked += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_tensors_of_others_are_taken_by_dlpack() -> None:
    exe = lamina.compile(NET, threads=1)
    x = np.asarray(json.loads((INPUTS / "net.json").read_text("utf-8"))["x"], np.float32).reshape(2, 2, 4, 4)
    given = Tensor(x)
    for found, expected in zip(exe(given), exe(x), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert given.asked == 1


def test_bench_says_why_there_is_nothing_to_compare_with() -> None:
    out = StringIO()
    assert cli.run(["bench", str(NET), "--repeats", "2"], out, StringIO()) == 0
    assert "it is no ONNX model" in out.getvalue()
