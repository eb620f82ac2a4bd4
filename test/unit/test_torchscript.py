"""Scripts of PyTorch's, read without torch, for given shapes; `relay.frontend.from_pytorch`; damaged files."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

import lamina
import lamina.compat.tvm as tvm
from lamina.cli import command as cli
from lamina.compat.tvm import relay
from lamina.errors import LaminaError, UnsupportedError, UsageError

INPUTS = Path(__file__).parent / "inputs" / "torchscript"
SHAPES = {"traced.pt": {"x": (2, 3, 5, 4)}, "scripted.pt": {"x": (2, 3, 5, 4)}}
DATA = json.loads((INPUTS / "results.json").read_text("utf-8"))
X = np.asarray(DATA["x"], np.float32).reshape(2, 3, 5, 4)


def check(found: Any) -> None:
    for value, expected in zip(found, DATA["results"], strict=True):
        np.testing.assert_allclose(value.reshape(-1), expected, rtol=1e-5, atol=1e-6)
    assert [v.dtype.name for v in found] == ["float32", "float32", "int64"]


@pytest.mark.parametrize("name", SHAPES)
def test_a_script_computes_what_torch_computed(name: str) -> None:
    check(lamina.compile(INPUTS / name, threads=1, shapes=SHAPES[name])(X))


def test_weights_have_the_models_names_and_calls_their_modules() -> None:
    model = lamina.load(INPUTS / "scripted.pt", SHAPES["scripted.pt"])
    assert "%layers_0_conv_weight" in str(model.module)
    places = {str(op.location) for op in model.module.walk() if op.name == "relay.nn.conv2d"}
    assert all(any(f'"layers.{k}.conv"' in place for place in places) for k in (0, 1))


def test_a_branch_over_a_size_is_taken_by_the_size() -> None:
    """Nine channels are cut to six, and the loop over numbers is gone."""
    ops = lamina.load(INPUTS / "scripted.pt", SHAPES["scripted.pt"]).ops()
    assert ops["strided_slice"] == 1 and ops["concatenate"] == 1


def test_from_pytorch_has_tvm_s_form() -> None:
    source = (INPUTS / "traced.pt").read_bytes()
    mod, params = relay.frontend.from_pytorch(source, [("input0", (2, 3, 5, 4))])
    assert [v.name_hint for v in mod["main"].params][0] == "input0" and "layers.0.conv.weight" in params
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(mod, "llvm", params=params)
    module = tvm.contrib.graph_executor.GraphModule(built["default"](tvm.cpu(0)))
    module.set_input("input0", X)
    module.run()
    check([module.get_output(k).numpy() for k in range(3)])


def test_converters_of_one_s_own_go_before_the_table() -> None:
    """A relu of TVM's form, with a constant, is what the module has of it."""
    seen: list[Any] = []

    def leaky(inputs: list[Any], types: list[str]) -> Any:
        seen.append(types)
        return relay.maximum(inputs[0], inputs[0] * relay.const(0.25, types[0]))

    given = INPUTS / "traced.pt", [("x", (2, 3, 5, 4))]
    plain, _ = relay.frontend.from_pytorch(*given)
    mod, _ = relay.frontend.from_pytorch(*given, {"aten::relu": leaky})
    assert "nn.relu" in plain.astext() and "nn.relu" not in mod.astext() and "maximum" in mod.astext()
    assert seen and all(t[0] == "float32" for t in seen)


def test_a_traced_script_has_the_shapes_that_it_was_traced_with() -> None:
    assert [str(i.shape) for i in lamina.load(INPUTS / "traced.pt").inputs] == ["(2, 3, 5, 4)"]
    assert [str(i.shape) for i in lamina.load(INPUTS / "traced.pt", {"x": (1, 3, 6, 4)}).inputs] == ["(1, 3, 6, 4)"]
    check(lamina.compile(INPUTS / "traced.pt", threads=1)(X))


def test_a_script_without_shapes_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="the input 'x' has no shape.*--shape x="):
        lamina.load(INPUTS / "scripted.pt")
    with pytest.raises(UsageError, match="there is no input 'y'.*there are x, double"):
        lamina.load(INPUTS / "scripted.pt", {"x": (2, 3, 5, 4), "y": (1,)})


def checked(path: Path) -> tuple[int, str]:
    out, err = StringIO(), StringIO()
    return cli.run(["check", str(path)], out, err), out.getvalue() + err.getvalue()


@pytest.mark.parametrize("name", ["operators", "operators_traced"])
def test_code_on_numbers_lists_texts_and_classes_computes_what_torch_computed(name: str) -> None:
    """A result for each body of code: `test/oracles/pytorch/test_scripts.py` has them one by one."""
    data = json.loads((INPUTS / f"{name}.json").read_text("utf-8"))
    found = lamina.compile(INPUTS / f"{name}.pt", threads=1, opt_level=0, shapes={"x": [3, 3]})(
        np.asarray(data["x"], np.float32)
    )
    for body, value, (dtype, *expected) in zip(data["bodies"], found, data["results"], strict=True):
        assert str(value.dtype) == dtype, body
        np.testing.assert_allclose(value.reshape(-1), expected, rtol=1e-5, atol=1e-5, err_msg=body)


CACHES = ["first.cache", "first.count", "second.cache", "second.count"]


@pytest.mark.parametrize(
    ("name", "shapes", "states"),
    [("keeping", {"x": [2, 3], "rate": 3}, ["state", "total"]),
     ("caching", {"x": [1, 2, 5]}, CACHES),
     ("caching_traced", {"x": [1, 2, 5]}, CACHES)],
)  # fmt: skip
def test_what_a_script_keeps_is_the_state_of_a_session(name: str, shapes: dict[str, Any], states: list[str]) -> None:
    data = json.loads((INPUTS / f"{name.partition('_')[0]}.json").read_text("utf-8"))
    executable = lamina.compile(INPUTS / f"{name}.pt", threads=1, shapes=shapes)
    assert sorted(i.name for i in executable.inputs) == sorted(["x", *states])
    session = executable.session()
    for _ in range(2):
        for x, expected in zip(data["calls"], data["results"], strict=True):
            found = session(np.asarray(x, np.float32).reshape(shapes["x"]))
            np.testing.assert_allclose(np.asarray(found).reshape(-1), expected, rtol=1e-5, atol=1e-6)
        session.reset()


@pytest.mark.parametrize(
    ("name", "said"),
    [("growing", "keeps rows from call to call, and each call leaves something else"),
     ("beginning", "its first calls compute something else than later ones from zeros"),
     ("started", "its first calls compute something else than later ones"),
     ("warming", "its first calls compute something else than later ones"),
     ("tied", "counts shares its memory with count"),
     ("listed", "constant_0 is changed, and is no attribute of a module"),
     ("looking", "float of a tensor that is computed at run time")],
)  # fmt: skip
def test_state_that_is_no_state_of_a_program_is_refused(name: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        lamina.load(INPUTS / f"{name}.pt", {"x": [2, 3]})


def test_a_number_that_a_script_takes_is_asked_for() -> None:
    with pytest.raises(UnsupportedError, match="the input 'rate' is int, no tensor; give shapes=.*'rate': NUMBER"):
        lamina.load(INPUTS / "keeping.pt", {"x": [2, 3]})


@pytest.mark.parametrize("name", ["net.pt", "net.bin"])
def test_a_script_is_known_by_its_suffix_or_its_members(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((INPUTS / "scripted.pt").read_bytes())
    status, said = checked(tmp_path / name)
    assert status == 0 and "are supported" in said


# -- damaged and hostile files ---------------------------------------------------------------------


def rewritten(member: str, change: Callable[[bytes], bytes]) -> bytes:
    """The archive with a member that is another."""
    made = BytesIO()
    with ZipFile(INPUTS / "scripted.pt") as old, ZipFile(made, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info.filename, change(data) if info.filename.endswith(member) else data)
    return made.getvalue()


CODE = "___torch_mangle_17.py"
"""The member with the code of `Net`."""


def code(old: str, new: str) -> bytes:
    return rewritten(CODE, lambda data: data.replace(old.encode(), new.encode()))


class _Evil:
    def __reduce__(self) -> Any:
        return print, ("run",)


def _bomb() -> bytes:
    made = BytesIO()
    with ZipFile(INPUTS / "scripted.pt") as old, ZipFile(made, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            big = info.filename.endswith(CODE)
            new.writestr(info.filename, b" " * (80 << 20) if big else old.read(info), None if big else 0)
    return made.getvalue()


HOSTILE: dict[str, Callable[[], bytes]] = {
    "half": lambda: (INPUTS / "scripted.pt").read_bytes()[:4000],
    "a pickle that calls": lambda: rewritten("data.pkl", lambda _: pickle.dumps(_Evil(), 2)),
    "a pickle of a number": lambda: rewritten("data.pkl", lambda _: pickle.dumps(7, 2)),
    "a pickle that ends early": lambda: rewritten("data.pkl", lambda data: data[:200]),
    "no pickle": lambda: rewritten("data.pkl", lambda _: b"nothing"),
    "a deep pickle": lambda: rewritten("data.pkl", lambda _: b"\x80\x02" + b"]" * 50000 + b"."),
    "no code": lambda: rewritten(CODE, lambda _: b""),
    "code that is none": lambda: rewritten(CODE, lambda _: b"def ((("),
    "code that imports": lambda: code("found = [x]", "import os"),
    "code that calls Python": lambda: code("found = [x]", "found = eval(x)"),
    "an endless loop": lambda: code("found = [x]", "while True:\n      found = [x]"),
    "recursion": lambda: code("found = [x]", "found = (self).forward(x, double, )"),
    "a huge list": lambda: code("found = [x]", "found = torch.mul([1], 100000000000)"),
    "a huge tensor": lambda: code("found = [x]", "found = [torch.zeros([1000000000000], dtype=6)]"),
    "a huge power": lambda: code("found = [x]", "found = torch.pow(10, 100000000)"),
    "an unknown operator": lambda: code("found = [x]", "found = [torch.mine(x)]"),
    "a value that is not there": lambda: code("found = [x]", "found = [nothing]"),
    "deep code": lambda: code("found = [x]", "found = " + "(" * 5000 + "x" + ")" * 5000),
    "a bomb": _bomb,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_damaged_script_is_refused_in_one_line(tmp_path: Path, what: str) -> None:
    data = HOSTILE[what]()
    with pytest.raises(LaminaError) as found:
        lamina.load(data, SHAPES["scripted.pt"])
    assert found.value.exit_status in (1, 3) and "\n" not in str(found.value)


def test_weights_alone_are_no_model() -> None:
    with pytest.raises(LaminaError, match="is a PyTorch file"):
        lamina.load(INPUTS / "weights.pt")


def mutated(seed: int) -> bytes:
    draw, data = random.Random(seed), bytearray((INPUTS / "traced.pt").read_bytes())
    for _ in range(draw.choice((1, 3, 20))):
        place = draw.randrange(len(data))
        if draw.randrange(2):
            data[place] = draw.randrange(256)
        else:
            del data[place : place + draw.randrange(1, 40)]
    return bytes(data)


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 400), marks=pytest.mark.long)])
def test_mutated_scripts_are_read_or_refused(seeds: range) -> None:
    for seed in seeds:
        try:
            lamina.load(mutated(seed), SHAPES["traced.pt"])
        except LaminaError as e:
            assert e.exit_status in (1, 2, 3), e
