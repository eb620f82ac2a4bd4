"""State that grows: sessions of programs that add rows to where the past lies, against onnxruntime and lone runs."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.driver.api import Executable
from lamina.errors import InputError, LaminaError, UsageError

sys.path.insert(0, str(Path(__file__).parents[1]))

from language_models import Dimensions, gpt, llama  # noqa: E402

from .turns import by_turns

Arrays: TypeAlias = "dict[str, np.ndarray[Any, np.dtype[Any]]]"

STATES = Dimensions().states()
SHAPES: dict[str, Any] = {"batch": 1, "seq": "1..64", "past": "0..255"}
LENGTHS = (5, 1, 1, 7, 1, 31, 1, 64, 1)


def ids(random: np.random.Generator, length: int, batch: int = 1) -> Any:
    return random.integers(0, 100, (batch, length))


@pytest.fixture(scope="module")
def step() -> Executable:
    return lamina.compile(gpt(), shapes=SHAPES, threads=1, cache=False, states=STATES)


def runs(session: Any, lengths: tuple[int, ...] = LENGTHS, seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    return [session.run({"ids": ids(random, n)})["logits"] for n in lengths]


MODELS = {
    "gpt": lambda: (gpt(), Dimensions()),
    "deeper": lambda: (gpt(Dimensions(3, 2, 24)), Dimensions(3, 2, 24)),
    "llama": lambda: (llama(), Dimensions(shared_by=2)),
}


@cache
def compiled(name: str) -> tuple[Any, Dimensions, Executable]:
    """A model of `MODELS`, its dimensions, and its program for up to four sequences."""
    model, size = MODELS[name]()
    exe = lamina.compile(model, shapes={**SHAPES, "batch": "1..4"}, threads=2, states=size.states())
    return model, size, exe


@pytest.mark.parametrize(
    ("how", "name", "batch"),
    by_turns(({}, {"capacity": 200}, {"capacity": 7, "grow": True}), [*MODELS], (1, 3)),
)
def test_a_session_gives_what_onnxruntime_gives(name: str, batch: int, how: dict[str, Any]) -> None:
    """Rows of the batch and of heads lie apart by as much as there is room for."""
    runtime = pytest.importorskip("onnxruntime")
    model, size, exe = compiled(name)
    states = size.states()
    reference = runtime.InferenceSession(model.SerializeToString())
    session, random = exe.session(**how), np.random.default_rng(0)
    rows = (batch, size.heads // size.shared_by, 0, size.width)
    past: Arrays = {n: np.zeros(rows, np.float32) for n in states}
    assert [p.name for p in session.inputs] == ["ids"] and [p.name for p in session.outputs] == ["logits"]
    for length in LENGTHS:
        given = ids(random, length, batch)
        expected = reference.run(None, {"ids": given, **past})
        np.testing.assert_allclose(session.run({"ids": given})["logits"], expected[0], rtol=1e-4, atol=1e-4)
        past = dict(zip(states, expected[1:], strict=True))
        for name, value in past.items():
            np.testing.assert_allclose(session.state[name], value, rtol=1e-4, atol=1e-4)


def test_a_run_without_a_session_is_what_it_was(step: Executable) -> None:
    plain = lamina.compile(gpt(), shapes=SHAPES, threads=1, cache=False)
    random = np.random.default_rng(1)
    past = {n: random.standard_normal((1, 4, 40, 16)).astype(np.float32) for n in STATES}
    given = {"ids": ids(random, 3), **past}
    for found, expected in zip(step.run(given).values(), plain.run(given).values(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert [p.describe() for p in step.outputs] == [p.describe() for p in plain.outputs]
    # State that nobody lets grow in place goes from run to run as it is.
    session = plain.session(STATES)
    for found, expected in zip(runs(session), runs(step.session()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_only_new_rows_are_written(step: Executable) -> None:
    """The rows of before keep their memory, and every bit."""
    session, random = step.session(capacity=64), np.random.default_rng(2)
    session.run({"ids": ids(random, 9)})
    before = session.state["past_k0"]
    kept = before.copy()
    before[0, 2, 3, 5] = 7.0  # a run that copied the past would read this
    session.run({"ids": ids(random, 2)})
    after = session.state["past_k0"]
    assert np.shares_memory(before, after) and after.shape == (1, 4, 11, 16) and after[0, 2, 3, 5] == 7.0
    kept[0, 2, 3, 5] = 7.0
    np.testing.assert_array_equal(after[:, :, :9], kept)


def test_capacity(step: Executable) -> None:
    session, random = step.session(capacity=8), np.random.default_rng(0)
    session.run({"ids": ids(random, 6)})
    state = {n: a.copy() for n, a in session.state.items()}
    with pytest.raises(InputError, match="9 rows of state do not fit a capacity of 8"):
        session.run({"ids": ids(random, 3)})
    for name, value in state.items():
        np.testing.assert_array_equal(session.state[name], value)
    session.run({"ids": ids(random, 2)})
    with pytest.raises(InputError, match="9 rows"):
        session.run({"ids": ids(random, 1)})
    session.reset()
    session.run({"ids": ids(random, 8)})


def test_a_capacity_beyond_memory(step: Executable) -> None:
    for capacity in (10**13, 1 << 62):
        with pytest.raises(InputError, match=f"no memory for {capacity} rows"):
            step.session(capacity=capacity).run({"ids": np.zeros((1, 1), np.int64)})
    step.session(capacity=np.int64(30)).run({"ids": np.zeros((1, 1), np.int64)})  # type: ignore[arg-type]


def test_the_range_of_the_program_is_a_bound_too(step: Executable) -> None:
    session, random = step.session(), np.random.default_rng(0)
    for _ in range(4):
        session.run({"ids": ids(random, 64)})
    with pytest.raises(InputError, match="256 given, it is from 0 to 255"):
        session.run({"ids": ids(random, 1)})


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"capacity": 0}, UsageError, "positive integer, not 0"),
        ({"capacity": 2.5}, UsageError, "positive integer, not 2.5"),
        ({"grow": False}, UsageError, "grow=False is for state with a capacity"),
        ({"states": {"past": "present_k0"}}, UsageError, "no input 'past'"),
        ({"states": {"ids": "logit"}}, UsageError, "no output 'logit'"),
        ({"states": {"ids": "logits"}}, UsageError, r"'logits' is float32\[1, \?, 100\], 'ids' takes int64"),
        ({"states": {"past_k0": "present_k0"}}, UsageError, "is state already"),
        ({"states": ["past_k0"]}, UsageError, "the names of outputs by those of inputs"),
    ],
)
def test_mistakes_with_sessions(step: Executable, how: dict[str, Any], error: type[LaminaError], message: str) -> None:
    with pytest.raises(error, match=message):
        step.session(**how)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"past_q": "present_k0"}, "no input 'past_q'"),
        ({"past_k0": "present"}, "no output 'present'"),
        ({"ids": "logits"}, r"'logits' is float32\[1, \?, 100\], 'ids' takes int64"),
        ({"past_k0": 3}, "there is no output 3"),
        (["past_k0"], "the names of outputs by those of inputs"),
        ({"past_k0": "present_k0", "past_v0": "present_k0"}, "is state already"),
    ],
)
def test_mistakes_with_states(states: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        lamina.compile(gpt(), shapes=SHAPES, threads=1, cache=False, states=states)


def test_state_that_is_put_there(step: Executable) -> None:
    session, random = step.session(), np.random.default_rng(3)
    past = {n: random.standard_normal((1, 4, 20, 16)).astype(np.float32) for n in STATES}
    given = ids(random, 2)
    session.state = dict(past)
    np.testing.assert_array_equal(session.run({"ids": given})["logits"], step.run({"ids": given, **past})["logits"])
    session.state["past_k0"] = past["past_k0"]
    with pytest.raises(InputError, match="22 rows where other state has 20"):
        session.run({"ids": given})
    session.state["past_k0"] = past["past_k0"].astype(np.float64)
    with pytest.raises(InputError, match=r"float64\[1, 4, 20, 16\] given"):
        session.run({"ids": given})


def test_a_session_goes_back(step: Executable) -> None:
    """To the state behind the first rows, in the same memory; what is not there is refused."""
    session, random = step.session(capacity=64), np.random.default_rng(4)
    session.run({"ids": ids(random, 9)})
    memory, given = session.state["past_k0"], ids(random, 2)
    expected = session.run({"ids": given})["logits"]
    for _ in range(2):
        session.rewind(9)
        np.testing.assert_array_equal(session.run({"ids": given})["logits"], expected)
        assert np.shares_memory(memory, session.state["past_k0"])
    for rows, message in ((12, "there are 11 rows of state, not 12"), (2.0, "a number from 0 on, not 2.0")):
        with pytest.raises(UsageError, match=message):
            session.rewind(rows)  # type: ignore[arg-type]
    plain = lamina.compile(gpt(), shapes=SHAPES, threads=1, cache=False)
    for other in (plain.session(STATES), plain.session()):
        other.state.setdefault("past_k0", np.zeros((1, 4, 3, 16), np.float32))
        with pytest.raises(UsageError, match="not all state of this program grows"):
            other.rewind(1)


def test_a_session_is_saved_and_loaded(step: Executable, tmp_path: Path) -> None:
    first = step.session(capacity=100)
    runs(first, (5, 1))
    first.save(tmp_path / "state.npz")
    second = step.session()
    second.load(tmp_path / "state.npz")
    for a, b in zip(runs(first, (1, 2), 7), runs(second, (1, 2), 7), strict=True):
        np.testing.assert_array_equal(a, b)
    np.savez(tmp_path / "other.npz", past_k0=np.zeros((1, 4, 3, 8), np.float32))
    with pytest.raises(InputError, match=r"'past_k0' is float32\[1, 4, 3, 8\]"):
        second.load(tmp_path / "other.npz")
    np.savez(tmp_path / "another.npz", key=np.zeros(3))
    with pytest.raises(InputError, match="it holds key; expected past_k0, past_v0"):
        second.load(tmp_path / "another.npz")


def test_a_state_that_cannot_be_written_leaves_what_stood_there(
    step: Executable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, path = step.session(), tmp_path / "state.npz"
    runs(session, (5, 1))
    session.save(path)
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(InputError, match="cannot write: No space left on device"):
        session.save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["state.npz"]
    with pytest.raises(InputError, match="cannot write: No such file"):
        session.save(tmp_path / "nowhere" / "state.npz")


def test_a_saved_program_lets_state_grow_elsewhere(step: Executable, tmp_path: Path) -> None:
    step.save(tmp_path / "step.lamina")
    np.save(tmp_path / "expected.npy", np.concatenate([y.reshape(-1) for y in runs(step.session())]))
    text = f"""
import sys
import numpy as np
from lamina.runtime.load import load
session, random = load("step.lamina").session(capacity=128), np.random.default_rng(0)
found = [session.run({{"ids": random.integers(0, 100, (1, n))}})["logits"].reshape(-1) for n in {LENGTHS}]
np.testing.assert_array_equal(np.concatenate(found), np.load("expected.npy"))
loaded = [m for m in sys.modules if m.startswith(("onnx", "lamina.passes", "lamina.driver"))]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True)


def test_the_cache_tells_states_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("LAMINA_CACHE", raising=False)
    made = [lamina.compile(gpt(), shapes=SHAPES, threads=1, states=s) for s in (None, STATES, STATES)]
    assert [e.cached for e in made] == [False, False, True]
    assert [bool(e.kept()) for e in made] == [False, True, True]
    made[2].session(capacity=20).run({"ids": np.zeros((1, 4), np.int64)})


def test_sessions_in_threads_are_apart(step: Executable) -> None:
    """Ten sessions of one program at a time, each what it is alone."""
    lengths = (3, *[1] * 40)
    alone = [runs(step.session(), lengths, seed) for seed in range(10)]
    found: dict[int, list[Any]] = {}

    def one(seed: int) -> None:
        found[seed] = runs(step.session(capacity=64), lengths, seed)

    threads = [threading.Thread(target=one, args=(seed,)) for seed in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for seed, expected in enumerate(alone):
        for a, b in zip(found[seed], expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_another_batch_asks_for_a_reset() -> None:
    exe = lamina.compile(gpt(), shapes={**SHAPES, "batch": "1..4"}, threads=1, cache=False, states=STATES)
    session, random = exe.session(), np.random.default_rng(0)
    session.run({"ids": ids(random, 4, 2)})
    with pytest.raises(InputError, match=r"the state 'past_k0' is \[2, 4, 4, 16\]"):
        session.run({"ids": ids(random, 1, 3)})
    session.reset()
    session.run({"ids": ids(random, 1, 3)})


@pytest.mark.parametrize("dtype", ["FLOAT", "FLOAT16", "INT8"])
@pytest.mark.parametrize("shape", [(None, 5), (2, None), (3, None, 20), (2, 3, None, 48)])
def test_rows_of_any_shape(dtype: str, shape: tuple[int | None, ...]) -> None:
    """A window that grows, and its sum: rows of other extents than vectors have, of other types, along each axis."""
    axis, kind = shape.index(None), getattr(TensorProto, dtype)
    sides = [[e if e is not None else name for e in shape] for name in ("p", "s", "t")]
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["present"], axis=axis),
        helper.make_node("ReduceMax", ["present"], ["y"], axes=[axis]),
    ]
    past, x, present = (
        helper.make_tensor_value_info(n, kind, side) for n, side in zip(("past", "x", "present"), sides, strict=True)
    )
    y = helper.make_tensor_value_info("y", kind, [1 if e is None else e for e in shape])
    model = helper.make_model(
        helper.make_graph(nodes, "window", [past, x], [y, present]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    checker: Any = onnx.checker
    checker.check_model(model)
    shapes: dict[str, Any] = {"p": "0..100", "s": "1..9"}
    exe = lamina.compile(model, shapes=shapes, threads=2, cache=False, states={"past": "present"})
    assert 'te.extern "state_append"' in exe.text("te")
    session, random = exe.session(), np.random.default_rng(0)
    rows: list[np.ndarray[Any, np.dtype[Any]]] = []
    for count in (1, 9, 3, 1, 9, 9, 9, 9, 9, 9, 2):
        new = random.integers(-99, 99, [count if e is None else e for e in shape])
        rows.append(new.astype(helper.tensor_dtype_to_np_dtype(kind)))
        found, whole = session.run({"x": rows[-1]})["y"], np.concatenate(rows, axis)
        np.testing.assert_array_equal(session.state["past"], whole)
        np.testing.assert_array_equal(found, whole.max(axis, keepdims=True))


def test_a_program_of_one_token_at_a_time() -> None:
    """A mask that is cut from a table by the number of rows stays a cut: its place is no number."""
    one = lamina.compile(gpt(), shapes={**SHAPES, "seq": 1}, threads=1, cache=False, states=STATES)
    many = lamina.compile(gpt(), shapes=SHAPES, threads=1, cache=False, states=STATES)
    for a, b in zip(runs(one.session(), (1,) * 20), runs(many.session(), (1,) * 20), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def window(**more: Any) -> Any:
    """A window [rows, 4] that grows, and its sum; `more` are further inputs of float32, each given back."""
    names = {"past": ["p", 4], "x": ["s", 4], **more}
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["present"], axis=0),
        helper.make_node("ReduceSum", ["present"], ["y"]),
        *(helper.make_node("Relu", [n], [f"{n}_out"]) for n in more),
    ]
    outputs = {"y": [1, 1], "present": ["t", 4], **{f"{n}_out": shape for n, shape in more.items()}}
    inputs, results = (
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in side.items()]
        for side in (names, outputs)
    )
    graph = helper.make_graph(nodes, "window", inputs, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


RANGES: dict[str, Any] = {"p": "0..99", "s": "1..9"}


@pytest.mark.parametrize("taken", ["p_kept", "p_spare"])
def test_inputs_with_the_names_of_sizes(taken: str) -> None:
    exe = lamina.compile(window(**{taken: [3]}), shapes=RANGES, threads=1, cache=False, states={"past": "present"})
    session, random = exe.session(capacity=20), np.random.default_rng(0)
    rows: list[Any] = []
    for count in (1, 5, 3):
        rows.append(random.standard_normal((count, 4)).astype(np.float32))
        session.run({"x": rows[-1], taken: np.zeros(3, np.float32)})
        np.testing.assert_array_equal(session.state["past"], np.concatenate(rows))


def test_sizes_of_sessions_are_no_inputs(step: Executable) -> None:
    past = {n: np.zeros((1, 4, 6, 16), np.float32) for n in STATES}
    given = {"ids": np.zeros((1, 1), np.int64), **past}
    with pytest.raises(InputError, match="no such input") as refused:
        step.run({**given, "past_kept": 6})
    assert "past_spare" not in str(refused.value)
    with pytest.raises(InputError, match="shape") as refused:
        step.run({**given, "past_v0": np.zeros((1, 4, 5, 16), np.float32)})
    assert "past_kept" not in str(refused.value)


@pytest.mark.parametrize("how", [{"opt_level": 0}, {"opt_level": 1}, {"sanitize": True}])
def test_state_at_every_level(how: dict[str, Any]) -> None:
    exe = lamina.compile(window(), shapes=RANGES, threads=1, cache=False, states={"past": "present"}, **how)
    session, rows = exe.session(), np.arange(40, dtype=np.float32).reshape(10, 4)
    for n in range(10):
        session.run({"x": rows[n : n + 1]})
    np.testing.assert_array_equal(session.state["past"], rows)
    if "sanitize" in how:
        return
    session.rewind(2)
    session.run({"x": rows[5:]})
    np.testing.assert_array_equal(session.state["past"], np.concatenate((rows[:2], rows[5:])))


def test_a_refused_first_run_leaves_no_state() -> None:
    h = helper.make_tensor_value_info("h", TensorProto.FLOAT, ["b", 4])
    x, out = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["b", 4]) for n in ("x", "out"))
    graph = helper.make_graph([helper.make_node("Add", ["h", "x"], ["out"])], "sum", [h, x], [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = lamina.compile(model, shapes={"b": "1..4"}, cache=False, states={"h": "out"}).session()
    for wrong in ({}, {"x": np.ones((2, 4))}):
        with pytest.raises(InputError):
            session.run(wrong)
        assert not session.state
    for count in (1, 2):
        session.run({"x": np.ones((3, 4), np.float32)})
        np.testing.assert_array_equal(session.state["h"], np.full((3, 4), count, np.float32))


def test_first_values_that_nothing_tells() -> None:
    exe = lamina.compile(window(), shapes={"p": "2..99", "s": "1..9"}, cache=False, states={"past": "present"})
    session, x = exe.session(), np.ones((1, 4), np.float32)
    with pytest.raises(InputError, match="no array tells 'p', which is not 0; put its first value into `state`"):
        session.run({"x": x})
    session.state["past"] = np.zeros((2, 4), np.float32)
    session.run({"x": x})
    assert session.state["past"].shape == (3, 4)


def test_states_of_extents_that_are_open() -> None:
    """One program for all sizes has states, whether or not it was compiled for them."""
    states = {"past": "present"}
    for session in (
        lamina.compile(window(), cache=False, states=states).session(),
        lamina.compile(window(), cache=False).session(states),
    ):
        for rows, total in ((1, 4), (3, 16), (2, 24)):
            assert session.run({"x": np.ones((rows, 4), np.float32)})["y"] == total


def test_a_text_that_says_half_of_a_growth() -> None:
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text

    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {lamina.state = [
        {input = "x", output = "y", initial = dense<0.0> : tensor<f32>, axis = 0 : i64}]} {
      func.return %x : tensor<4xf32>
    }"""
    from lamina.dialects.relay.program_state import state_of
    from lamina.interpreters.relay_reference import main_function

    with pytest.raises(InputError, match="lamina.state of @main is malformed"):
        state_of(main_function(parse_text(LaminaContext(), text, "model.mlir")))
