"""Programs that keep state: the attribute `lamina.state`, and sessions that carry values from run to run."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

import lamina
from lamina.cli import command as cli
from lamina.dialects.relay.program_state import StateVariable, state_attribute, state_of
from lamina.driver.relay_source import read_program
from lamina.errors import InputError, UnsupportedError
from lamina.interpreters.relay_reference import main_function
from lamina.opt_tool.command import run_opt_tool

TEXT = """
func.func @main(%x: tensor<3xf32>, %total: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {
  lamina.state = [{input = "total", output = "sum", initial = dense<1.0> : tensor<f32>}]
} {
  %sum = relay.add %x, %total : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = relay.multiply %sum, %sum : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y, %sum : tensor<3xf32>, tensor<3xf32>
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "running_sum.mlir"
    place.write_text(TEXT)
    return place


def test_a_session_carries_the_state(path: Path) -> None:
    session = lamina.compile(path, cache=False).session()
    assert [p.name for p in session.inputs] == ["x"] and [p.name for p in session.outputs] == ["y"]
    one = np.ones(3, np.float32)
    np.testing.assert_array_equal(session(one), np.full(3, 4))
    np.testing.assert_array_equal(session.run({"x": one})["y"], np.full(3, 9))
    np.testing.assert_array_equal(session.state["total"], np.full(3, 3))
    session.state["total"] = np.zeros(3, np.float32)
    np.testing.assert_array_equal(session(one), one)
    session.reset()
    np.testing.assert_array_equal(session(one), np.full(3, 4))


def test_sessions_of_one_program_are_apart(path: Path) -> None:
    exe = lamina.compile(path, cache=False)
    first, second = exe.session(), exe.session()
    one = np.ones(3, np.float32)
    first(one)
    first(one)
    np.testing.assert_array_equal(second(one), np.full(3, 4))


def test_saved_and_pickled_programs_have_it(path: Path, tmp_path: Path) -> None:
    exe = lamina.compile(path, cache=False)
    exe.save(tmp_path / "p.lamina")
    for again in (lamina.Executable.load(tmp_path / "p.lamina"), pickle.loads(pickle.dumps(exe))):
        np.testing.assert_array_equal(again.session()(np.ones(3, np.float32)), np.full(3, 4))


def test_programs_of_the_machine_have_it(tmp_path: Path) -> None:
    text = TEXT.replace("%x: tensor<3xf32>", "%x: tensor<3xf32>, %flag: tensor<i1>").replace(
        "%y = relay.multiply %sum, %sum : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>",
        "%y = relay.if %flag -> tensor<3xf32> { relay.yield %sum : tensor<3xf32> } else {\n"
        "    %z = relay.negative %sum : tensor<3xf32>\n    relay.yield %z : tensor<3xf32>\n  }",
    )
    (tmp_path / "m.mlir").write_text(text)
    session = lamina.compile(tmp_path / "m.mlir", cache=False).session()
    one = np.ones(3, np.float32)
    np.testing.assert_array_equal(session(one, np.bool_(True)), np.full(3, 2))
    np.testing.assert_array_equal(session(one, np.bool_(False)), np.full(3, -3))


def test_wrong_uses_are_refused(path: Path) -> None:
    session = lamina.compile(path, cache=False).session()
    with pytest.raises(InputError, match="the input 'total' is state; put its value into `state`"):
        session.run({"x": np.ones(3, np.float32), "total": np.ones(3, np.float32)})
    with pytest.raises(InputError, match="2 arrays given, 1 expected"):
        session(np.ones(3), np.ones(3))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('input = "total"', 'input = "nobody"'), "the state 'nobody' is no input of"),
        (('output = "sum"', 'output = "nobody"'), "the state 'nobody' is no output of"),
        (("dense<1.0> : tensor<f32>", "dense<1.0> : tensor<2xf32>"), "has the shape [2]"),
        (('input = "total", ', ""), "the attribute lamina.state of @main is malformed"),
        (("dense<1.0> : tensor<f32>", "3"), "the attribute lamina.state of @main is malformed"),
    ],
)
def test_a_wrong_attribute_is_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    (tmp_path / "w.mlir").write_text(TEXT.replace(*change))
    with pytest.raises(InputError) as caught:
        lamina.compile(tmp_path / "w.mlir", cache=False).session()
    assert said in str(caught.value)


def test_initial_values_stand_in_the_text(path: Path) -> None:
    function = main_function(read_program(path).module)
    (variable,) = state_of(function)
    assert variable.initial.shape == () and variable.initial == 1
    rows = np.arange(6, dtype=np.int8).reshape(2, 3)
    function.attributes["lamina.state"] = state_attribute([StateVariable("total", "sum", rows)])
    np.testing.assert_array_equal(state_of(function)[0].initial, rows)
    with pytest.raises(UnsupportedError, match="the initial value of 'total' has 8388608 bytes"):
        state_attribute([StateVariable("total", "sum", np.arange(1 << 20))])
    status, out, _ = run_opt_tool([str(path)])
    assert status == 0 and 'lamina.state = [{input = "total", output = "sum", initial = dense<1' in out


def test_commands_begin_with_the_initial_state(path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    np.save(path.with_name("x.npy"), np.ones(3, np.float32))
    assert cli.run(["run", str(path), "--input", f"x=@{path.with_name('x.npy')}"], out, err) == 0
    assert "y: float32[3] [4., 4., 4.]" in out.getvalue() and "random" not in err.getvalue()
    assert lamina.load(path).initial_state["total"].tolist() == [1, 1, 1]


def test_a_program_without_state_has_a_session(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = relay.exp %x : tensor<2xf32>\n"
        "  return %y : tensor<2xf32>\n}\n"
    )
    session = lamina.compile(tmp_path / "p.mlir", cache=False).session()
    np.testing.assert_allclose(session(np.zeros(2, np.float32)), np.ones(2))
