"""Variables keep their values from run to run, as LiteRT's interpreter does; branches, loops and calls of subgraphs."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check, draw, interpreter, run  # noqa: E402
from tflite_build import Graph, Op, T, build  # noqa: E402

import lamina  # noqa: E402
from lamina.errors import UnsupportedError  # noqa: E402

FOUND = find_spec("pymicro_wakeword")
MODELS = sorted(Path(FOUND.submodule_search_locations[0]).glob("models/*.tflite")) if FOUND else []  # pyright: ignore


def accumulator(initial: Any) -> bytes:
    """y = total * 2 after total += x, where total begins with a value."""
    options = {"shared_name": "total", "container": ""}
    handle, first = T((1,), "resource"), T.of(initial)
    init = Graph([], [], [Op("VAR_HANDLE", [], [handle], options), Op("ASSIGN_VARIABLE", [handle, first], [])])
    held, x, before, after, y = T((1,), "resource"), T((3,)), T((3,)), T((3,)), T((3,))
    ops = [
        Op("CALL_ONCE", [], [], {"init_subgraph_index": 1}),
        Op("VAR_HANDLE", [], [held], options),
        Op("READ_VARIABLE", [held], [before]),
        Op("ADD", [x, before], [after]),
        Op("ASSIGN_VARIABLE", [held, after], []),
        Op("ADD", [after, after], [y]),
    ]
    return build(Graph([x], [y], ops), init)


@pytest.mark.parametrize("initial", [np.zeros(3), np.array([1.0, -2.0, 0.5])], ids=["zeros", "numbers"])
def test_variables_are_kept(initial: Any) -> None:
    data = accumulator(initial)
    session, theirs = lamina.compile(data, cache=False).session(), interpreter(data)
    assert [p.name for p in session.inputs] == ["t0"] and list(session.state) == ["total"]
    for k in range(4):
        x = draw((3,), seed=k)
        np.testing.assert_allclose(session(x), run(theirs, [x])[0], rtol=1e-6)
    session.reset()
    np.testing.assert_allclose(session(np.zeros(3, np.float32)), initial * 2)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_wake_word_models(path: Path) -> None:
    session, theirs = lamina.compile(path, cache=False).session(), interpreter(path.read_bytes())
    port = session.inputs[0]
    for k in range(50):
        x = draw(port.shape, port.dtype, seed=k, low=-128, high=127)
        np.testing.assert_array_equal(session(x), run(theirs, [x])[0])


def branches(*given: T | None, state: bool = False) -> bytes:
    """IF of a condition: x + x, or x * x."""
    flag, x, y = T((1,), "bool"), T((3,)), T((3,))
    graphs: list[Graph] = []
    for op in ("ADD", "MUL"):
        a, b = T((3,)), T((3,))
        graphs.append(Graph([a], [b], [Op(op, [a, a], [b])]))
    node = Op("IF", [given[0] if given else flag, x], [y], {"then_subgraph_index": 1, "else_subgraph_index": 2})
    inputs = [x] if given else [flag, x]
    return build(Graph(inputs, [y], [node]), *graphs)


@pytest.mark.parametrize("flag", [True, False])
def test_branches(flag: bool) -> None:
    check(branches(), [np.array([flag]), draw((3,))])
    check(branches(T.of(np.array([flag]))), [draw((3,))])


def loop(most: T) -> bytes:
    """x doubled as long as a counter is below a bound."""
    place, x, n, y = T.of(np.array([0], np.int32)), T((3,)), T((1,), "int32"), T((3,))
    a, b, going = T((1,), "int32"), T((3,)), T((1,), "bool")
    condition = Graph([a, b], [going], [Op("LESS", [a, most], [going])])
    c, d, e, f = T((1,), "int32"), T((3,)), T((1,), "int32"), T((3,))
    steps = [Op("ADD", [c, T.of(np.array([1], np.int32))], [e]), Op("ADD", [d, d], [f])]
    node = Op("WHILE", [place, x], [n, y], {"cond_subgraph_index": 1, "body_subgraph_index": 2})
    return build(Graph([x], [n, y], [node]), condition, Graph([c, d], [e, f], steps))


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_loops_of_known_length(trips: int) -> None:
    check(loop(T.of(np.array([trips], np.int32))), [draw((3,))])


def test_a_long_loop_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="a loop of more than 1024 trips is not supported"):
        lamina.load(loop(T.of(np.array([5000], np.int32))))


def test_a_subgraph_that_calls_itself_is_refused() -> None:
    x, y, a, b = T((3,)), T((3,)), T((3,)), T((3,))
    inner = Graph([a], [b], [Op("CALL", [a], [b], {"subgraph": 1})])
    with pytest.raises(UnsupportedError, match="subgraph 1 calls itself"):
        lamina.load(build(Graph([x], [y], [Op("CALL", [x], [y], {"subgraph": 1})]), inner))
