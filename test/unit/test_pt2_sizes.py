"""Programs of torch.export with open extents: one program for all sizes, told by numbers and ranges, mistakes named."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import lamina
from lamina.cli import command as cli
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.frontends.aten.sizes import value_of

INPUTS = Path(__file__).parent / "inputs" / "pt2"
SEQUENCES, IMAGES = INPUTS / "open_sequences.pt2", INPUTS / "open_images.pt2"


def sequences(count: int, length: int) -> tuple[Any, ...]:
    return np.arange(count * length).reshape(count, length) * 7 % 30, np.arange(count) % length + 1


def images(count: int, height: int, width: int) -> tuple[Any, ...]:
    shape = (count, 2, 2 * height, 2 * width)
    return (np.sin(np.arange(np.prod(shape)) * 0.7).astype(np.float32).reshape(shape),)


@cache
def stored(path: Path) -> list[tuple[list[int], list[Any]]]:
    """Sizes that the program was not exported with, and what torch computed."""
    data = json.loads(path.with_suffix(".json").read_text("utf-8"))
    return list(zip(data["sizes"], data["results"], strict=True))


def check(exe: Any, path: Path, inputs: Callable[..., tuple[Any, ...]], sizes: list[int], results: Any) -> None:
    for value, expected in zip(exe(*inputs(*sizes)), results, strict=True):
        np.testing.assert_allclose(value.reshape(-1), expected, rtol=1e-4, atol=3e-6, err_msg=f"{path.name} {sizes}")


def no_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a run compiles")

    monkeypatch.setattr(sys.modules["lamina.driver.compilation"], "build", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize(("path", "inputs"), [(SEQUENCES, sequences), (IMAGES, images)], ids=["sequences", "images"])
def test_one_program_computes_what_torch_computed_at_every_size(
    path: Path, inputs: Callable[..., tuple[Any, ...]], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exe = lamina.compile(path, target=target, threads=1, cache=False)
    assert exe.is_fixed
    no_compilation(monkeypatch)
    for sizes, results in stored(path):
        check(exe, path, inputs, sizes, results)


@pytest.mark.slow
def test_a_saved_program_takes_all_sizes(tmp_path: Path) -> None:
    lamina.compile(SEQUENCES, threads=1, cache=False).save(tmp_path / "net.lamina")
    exe = lamina.Executable.load(tmp_path / "net.lamina")
    for sizes, results in stored(SEQUENCES):
        check(exe, SEQUENCES, sequences, sizes, results)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shapes",
    [
        {"ids": [4, 17], "lengths": [4]},
        {"ids": [4, 17]},  # the other input has as many rows
        {"s2": 4, "s27": 17},
        {"s2": "1..8", "s27": 17},
        {"s27": "16..20"},
    ],
    ids=str,
)
def test_sizes_are_given_by_inputs_or_by_symbols(shapes: dict[str, Any]) -> None:
    model = lamina.load(SEQUENCES, shapes)
    if all(not isinstance(s, str) for s in shapes.values()):
        assert model.inputs[0].shape == (4, 17) and model.inputs[1].shape == (4,)
    ((sizes, results),) = (found for found in stored(SEQUENCES) if found[0] == [4, 17])
    check(lamina.compile(model, threads=1, cache=False), SEQUENCES, sequences, sizes, results)


def test_an_even_extent_is_a_symbol_of_its_own() -> None:
    model = lamina.load(IMAGES, {"x": [1, 2, 6, 8]})
    assert model.inputs[0].shape == (1, 2, 6, 8)
    (port,) = lamina.load(IMAGES).inputs
    assert "x2" in port.describe()


def test_ports_have_the_ranges_of_the_program() -> None:
    exe = lamina.compile(SEQUENCES, threads=1, cache=False)
    with pytest.raises(LaminaError, match="it is from 3 to 40"):
        exe(*sequences(2, 41))
    with pytest.raises(LaminaError, match="it is from 3 to 40"):
        exe(*sequences(2, 2))
    with pytest.raises(LaminaError, match="lengths"):
        exe(sequences(2, 9)[0], sequences(3, 9)[1])


@pytest.mark.parametrize(
    ("path", "shapes", "error", "says"),
    [
        (SEQUENCES, {"ids": [4]}, UsageError, "ids: has rank 2, the given shape [4] does not"),
        (SEQUENCES, {"ids": 4}, UsageError, "ids: its shape must be a list of sizes"),
        (SEQUENCES, {"ids": [4, -1]}, UsageError, "ids: its shape must be a list of sizes"),
        (
            SEQUENCES,
            {"ids": [4, 9], "lengths": [5]},
            UsageError,
            "lengths: the given shape [5] contradicts the extent 4",
        ),
        (SEQUENCES, {"idz": [4, 9]}, UsageError, 'a shape is given for "idz", which is no input'),
        (SEQUENCES, {"s27": "9..3"}, UsageError, "'9..3'"),
        (SEQUENCES, {"ids": [4, 41]}, UsageError, "s27 is 41, the program is for s27=3..40"),
        (SEQUENCES, {"s27": 2}, UsageError, "s27 is 2, the program is for s27=3..40"),
        (SEQUENCES, {"s27": "1..40"}, UsageError, "s27 is 1, the program is for s27=3..40"),
        (SEQUENCES, {"s27": "8..64"}, UsageError, "s27 is 64, the program is for s27=3..40"),
        (IMAGES, {"s89x2": "4..16"}, UsageError, "s89x2 is no multiple of 2, the program is for s89x2=0..800:2"),
        (IMAGES, {"x": [1, 3, 4, 4]}, UsageError, "contradicts the extent 2 of the program"),
        (IMAGES, {"x": [1, 2, 5, 4]}, UsageError, "x2 is no multiple of 2, the program is for s"),
    ],
)
def test_shapes_that_no_program_has_are_refused(path: Path, shapes: Any, error: type[LaminaError], says: str) -> None:
    with pytest.raises(error) as found:
        lamina.load(path, shapes)
    assert says in str(found.value) and "\n" not in str(found.value)


def test_the_check_says_for_which_sizes_the_program_is() -> None:
    out, err = StringIO(), StringIO()
    assert cli.run(["check", str(SEQUENCES)], out, err) == 0, err.getvalue()
    lines = out.getvalue().splitlines()
    assert lines[0].endswith("all 84 nodes are supported")
    assert lines[1].startswith("open extents s2, s27: one program for s2 from 1 on, s27=3..40")


# -- expressions -----------------------------------------------------------------------------------

N = "Symbol('n', positive=True, integer=True)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Integer(3)", 3),
        (N, 20),
        (f"Add({N}, Integer(-1))", 19),
        (f"Mul(Integer(2), {N}, {N})", 800),
        (f"Pow({N}, Integer(2))", 400),
        (f"FloorDiv(Add({N}, Integer(1)), Integer(2))", 10),
        (f"Mod({N}, Integer(7))", 6),
        (f"Max(Integer(1), Add({N}, Integer(-30)))", 1),
        (f"Min(Integer(7), {N}, Integer(9))", 7),
    ],
)
def test_an_expression_is_a_number(text: str, expected: int) -> None:
    assert value_of(text, {"n": 20}.__getitem__) == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("__import__('os').getcwd()", InputError),
        ("Symbol(1)", InputError),
        ("Integer('a')", InputError),
        ("(lambda: 1)()", InputError),
        ("n", InputError),
        ("Integer(", InputError),
        (f"FloorDiv({N}, Integer(0))", InputError),
        (f"FloorDiv({N})", InputError),
        (f"sin({N})", UnsupportedError),
        (f"Pow(Integer(2), {N})", UnsupportedError),
        (f"Add({'Add(' * 5000}{N}", InputError),
        ("Add(" * 800 + "Integer(1)" + ")" * 800, InputError),
    ],
)
def test_what_is_no_size_is_refused(text: str, error: type[LaminaError]) -> None:
    with pytest.raises(error):
        value_of(text, {"n": 20}.__getitem__)


def with_sizes(change: Callable[[str], str]) -> bytes:
    """The program with its description changed as text."""
    made = BytesIO()
    with ZipFile(SEQUENCES) as old, ZipFile(made, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.endswith("models/model.json"):
                data = change(data.decode()).encode()
            new.writestr(info, data)
    return made.getvalue()


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("Symbol('s27', positive=True", "Symbol('u0', positive=True", ""),
        ("Symbol('s27'", "open('s27'", "no expression of sizes|are not supported"),
        ("Integer(1)", "Integer(2)", ""),
        ("Symbol('s27'", "Symbol(['s27']", "no expression of sizes"),
    ],
)
def test_changed_sizes_are_read_or_refused(before: str, after: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(with_sizes(lambda text: text.replace(before, after)))
    try:
        lamina.load(path)
    except LaminaError as e:
        assert "\n" not in str(e) or "operators are not supported" in str(e)
        assert not says or any(s in str(e) for s in says.split("|")), e
    else:
        assert not says
