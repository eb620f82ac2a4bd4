"""Choices: candidates timed inside a model, the file that keeps what was chosen, and the program that it gives."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.jit import named_target
from lamina.backends.cpu.passes.winograd import CpuWinograd
from lamina.cli import command as cli
from lamina.dialects.choices import Question
from lamina.dialects.listener import Listener
from lamina.driver import api
from lamina.errors import InputError, UnsupportedError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.store.choice_file import read_choices, write_choices
from lamina.tuning.in_situ import Row, Tuned, choose_in_situ


def lamina_command(*argv: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(a) for a in argv], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two convolutions, 3x3 and 1x1, of 32 channels."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((32, 32, k, k), np.float32) / (6 * k), f"w{k}") for k in (3, 1)
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w3"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "w1"], ["y"], name="second"),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 32, 12, 12]) for n in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path_factory.mktemp("choices") / "two.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.slow
def test_every_candidate_computes_the_same(model: Path) -> None:
    x = np.random.default_rng(1).standard_normal((1, 32, 12, 12), np.float32)
    expected = lamina.compile(model, threads=1)(x)
    asked = api.questions(model, threads=1)
    assert {q.name.split()[0] for q in asked} >= {"tile"}
    assert {"first", "second"} <= {n for q in asked for n in q.nodes}
    for question in asked:
        for candidate in question.candidates[1:]:
            found = lamina.compile(model, threads=1, choices={question.name: candidate})(x)
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_timed(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.tuning.in_situ.choose_in_situ", None)
    status, out, err = lamina_command("tune", model, "-o", tmp_path / "nowhere" / "c.json")
    assert (status, out) == (1, "") and f"cannot write: {tmp_path}/nowhere is no folder" in err


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_choices(path, {"tile": "1x1"}, named_target("x86-64-v3"))
    reader.join()
    assert json.loads(read[0])["choices"] == {"tile": "1x1"} and path.is_fifo()


def test_a_choice_file_gives_the_same_program_byte_for_byte(model: Path, tmp_path: Path) -> None:
    question = next(q for q in api.questions(model, threads=1) if q.name.startswith("tile"))
    default = lamina.compile(model, threads=1)
    write_choices(tmp_path / "c.json", {question.name: question.candidates[-1]}, default.target)
    programs = [lamina.compile(model, threads=1, cache=False, choices=tmp_path / "c.json") for _ in range(2)]
    for n, program in enumerate(programs):
        program.save(tmp_path / f"{n}.lamina")
    assert (tmp_path / "0.lamina").read_bytes() == (tmp_path / "1.lamina").read_bytes()
    assert programs[0].text("te") != default.text("te")


def test_the_cache_tells_choices_apart(model: Path) -> None:
    question = next(q for q in api.questions(model, threads=1) if q.name.startswith("tile"))
    lamina.compile(model, threads=1)
    chosen = {question.name: question.candidates[1]}
    assert lamina.compile(model, threads=1, choices=chosen).text("relay").count("lamina.choices") == 1
    assert lamina.compile(model, threads=1, choices=chosen).cached
    assert "lamina.choices" not in lamina.compile(model, threads=1).text("relay")


CONVOLUTION = """func.func @f{n}(%x: tensor<1x4x28x28x16x{t}>) -> tensor<1x4x{o}x{o}x16x{t}> {{
  %w = relay.constant #relay.param<"w{t}", "0123456789abcdef"> : tensor<2x4x3x3x16x32x{t}>
  %y = relay.nn.contrib_conv2d_NCHWc %x, %w {{channels = 64, padding = {p}{more}}}
    : (tensor<1x4x28x28x16x{t}>, tensor<2x4x3x3x16x32x{t}>) -> tensor<1x4x{o}x{o}x16x{t}>
  return %y : tensor<1x4x{o}x{o}x16x{t}>
}}"""


def test_a_question_names_the_padding_in_one_way_and_the_element_type() -> None:
    cases = [("f32", "[1, 1]", "", 28), ("f32", "[1, 1, 1, 1]", "", 28), ("f64", "[1, 1]", "", 28)]
    cases += [("f32", "[2, 2]", ", dilation = [2, 2]", 28)]
    texts = [CONVOLUTION.format(n=n, t=t, p=p, more=more, o=o) for n, (t, p, more, o) in enumerate(cases)]
    asked: list[Question] = []

    class Asked(Listener):
        def asked(self, questions: Iterable[Question]) -> None:
            asked.extend(questions)

    ctx = LaminaContext(listener=Asked())
    module = parse_text(ctx, "\n".join(texts), "convolutions.mlir")
    module.attributes["lamina.target"] = named_target("x86-64-v4")
    CpuWinograd().sizes(ctx, module)
    work = "by 2x4x3x3x16x32 padded 1x1x1x1"
    assert [q.name for q in asked] == [f"winograd 1x4x28x28x16x{t} {work}" for t in ("f32", "f64")]


def test_choosing_takes_what_was_faster() -> None:
    row = Row(Question("tile of a kernel", ("1x1", "2x2"), frozenset(["n"])), (2e-3, 1e-3), "2x2", 1)
    said = str(Tuned({"tile of a kernel": "2x2"}, 4e-3, 3e-3, [row]))
    assert "1x1 -> 2x2" in said
    assert "4.00 ms by default, 3.00 ms as chosen" in said


def test_the_command_writes_a_file_that_compile_takes(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "chosen.json"
    status, out, err = lamina_command("tune", model, "-o", path, "--threads", "1", "--rounds", "3")
    assert status == 0, err
    assert f"{path}\n" in out and "as chosen" in out
    assert set(json.loads(path.read_text())) == {"format", "target", "choices"}
    assert lamina_command("run", model, "--threads", "1", "--choices", path)[0] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no choice file"),
        ("[1]", "there are no 'choices'"),
        ('{"choices": {"a": 1}}', "there are no 'choices'"),
        ('{"format": 1, "choices": {"tile nn.dense 4x4 over 4 of 4x4": "2x1"}}', "format 1; this version reads 2"),
        ('{"format": 2, "target": "vax", "choices": {}}', "the choices are for vax"),
    ],
)
def test_what_is_no_choice_file_is_refused(model: Path, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    status, _, err = lamina_command("compile", model, "--choices", path)
    assert (status, err.count("\n")) == (1, 1)
    assert said in err and str(path) in err


def test_a_missing_file_and_a_stale_answer_are_refused(model: Path, tmp_path: Path) -> None:
    target = lamina.compile(model, threads=1).target
    with pytest.raises(InputError, match="cannot read"):
        read_choices(tmp_path / "none.json", target)
    question = api.questions(model, threads=1)[0]
    with pytest.raises(InputError, match="is one of .* not 99x99"):
        lamina.compile(model, threads=1, choices={question.name: "99x99"})


def test_a_model_without_candidates_is_refused(tmp_path: Path) -> None:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(UnsupportedError, match="more than one candidate"):
        choose_in_situ(made, threads=1)
