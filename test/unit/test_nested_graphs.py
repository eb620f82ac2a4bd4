"""Graphs in graphs whose copies would have no end: refused by name and at once."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from lamina.dialects.infos import TensorInfo
from lamina.errors import LaminaError
from lamina.frontends.aten import importer, nested
from lamina.frontends.aten.convert_control import MOST_CALLS
from lamina.frontends.aten.graph import AtenCall, AtenGraph, Input, Output, Ref
from lamina.frontends.aten.importer import import_graph, refused_calls, report_of

from .two_files import MOST_SECONDS

X = Input("x", (4,), "float32")
ROWS = Input("rows", (1000, 4), "float32")


def _graph(calls: list[AtenCall], given: Input = X) -> AtenGraph:
    return AtenGraph("graph", [given], calls, [Output("y", Ref(calls[-1].name))])


def _relu() -> AtenGraph:
    return _graph([AtenCall("y", "aten.relu.default", (Ref("x"),), results=TensorInfo((4,), "float32"))])


def _first(call: str, value: str) -> list[AtenCall]:
    return [
        AtenCall(f"{call}_first", "getitem", (Ref(call), 0)),
        AtenCall(value, "aten.relu.default", (Ref(f"{call}_first"),)),
    ]


def _regions(body: AtenGraph, times: int) -> AtenGraph:
    """A graph that calls another one in sequence."""
    calls: list[AtenCall] = []
    for k in range(times):
        before = Ref(f"v{k - 1}" if k else "x")
        calls += [
            AtenCall(f"r{k}", "higher_order.invoke_subgraph", (body, f"body{k}", before)),
            *_first(f"r{k}", f"v{k}"),
        ]
    return _graph(calls)


def _choices(body: AtenGraph, times: int) -> AtenGraph:
    """A graph that chooses twice between the same graph."""
    flag = AtenCall("sum", "aten.sum.default", (Ref("x"),)), AtenCall("flag", "aten.gt.Scalar", (Ref("sum"), 0))
    calls = list(flag)
    for k in range(times):
        before = Ref(f"v{k - 1}" if k else "x")
        calls += [
            AtenCall(f"c{k}", "higher_order.cond", (Ref("flag"), body, body, [before])),
            *_first(f"c{k}", f"v{k}"),
        ]
    return _graph(calls)


def _scans(body: AtenGraph) -> AtenGraph:
    """A graph that goes through a thousand rows, of each four numbers."""
    row = Input("row", (4,), "float32")
    within = AtenGraph(
        "graph",
        [X, row],
        [*body.calls, AtenCall("sum", "aten.add.Tensor", (Ref(body.outputs[0].value.name), Ref("row")))],
        [Output("y", Ref("sum"))],
    )
    rows = AtenCall("rows", "aten.new_zeros.default", (Ref("x"), [1000, 4]))
    return _graph(
        [rows, AtenCall("s", "higher_order.scan", (within, [Ref("x")], [Ref("rows")], [])), *_first("s", "y")]
    )


def _nested(around: Callable[..., AtenGraph], depth: int, *further: int) -> AtenGraph:
    graph = _relu()
    for _ in range(depth):
        graph = around(graph, *further)
    return graph


@pytest.mark.parametrize("around", [_regions, _choices])
def test_graphs_in_graphs_of_models_are_imported(around: Callable[..., AtenGraph]) -> None:
    import_graph(_nested(around, 3, 2)).module.verify()


@pytest.mark.parametrize(
    ("graph", "said"),
    [(_nested(_regions, 20, 2), "nested deeper than 8"),
     (_nested(_regions, 8, 30), "more than 1024 calls"),
     (_nested(_choices, 20, 2), "nested deeper than 8"),
     (_nested(_choices, 8, 8), "more than 1024 calls"),
     (_nested(_scans, 12), "nested deeper than 8")],
)  # fmt: skip
def test_graphs_in_graphs_without_end_are_refused(graph: AtenGraph, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (importer, nested):
        monkeypatch.setattr(module, "MOST_CALLS", 1024)
    begin = time.monotonic()
    with pytest.raises(LaminaError, match=said):
        import_graph(graph)
    for look in (refused_calls, report_of):
        try:
            look(graph)
        except LaminaError as e:
            assert said in e.what
    assert time.monotonic() - begin < 3 * MOST_SECONDS


def test_code_of_scans_in_scans_stays_small() -> None:
    """The inner one, of a thousand rows, is in place; the outer one is a loop, where in place it would be a million."""
    ops = sum(1 for _ in import_graph(_nested(_scans, 2)).module.walk())
    assert ops < 8 * MOST_CALLS


def test_a_region_of_other_operands_is_refused() -> None:
    graph = _graph(
        [AtenCall("r", "higher_order.invoke_subgraph", (_relu(), "body", Ref("x"), Ref("x"))), *_first("r", "y")]
    )
    with pytest.raises(LaminaError, match="a region is called otherwise than it is made"):
        import_graph(graph)
