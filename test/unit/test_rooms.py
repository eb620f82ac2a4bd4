"""The rooms of `lamina/` stack, and imports run in no circle: those inside functions count, those for types do not."""

from __future__ import annotations

import re
from pathlib import Path

from tools.import_graph import circles, import_graph, modules
from tools.page_parts import with_part
from tools.rooms import drawing

WITHIN_IR = ("transform", "universe", "dataflow_pattern")
"""Public names at the top of the package."""
STACK = (
    ("errors",),
    ("interpreters",),
    ("ir", *WITHIN_IR),
    ("runtime",),
    ("measure",),
    ("store",),
    ("vm",),
    ("driver",),
    ("te", "topi", "tensor"),
    ("debugging",),
    ("roofline", "tuning"),
    ("numpy",),
    ("torch",),
    ("jax",),
    ("cli", "opt_tool"),
    ("compat",),
)
"""What a room imports stands in it or before it."""
FLOORS = {name: n for n, names in enumerate(STACK) for name in names}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_the_page_of_the_rooms_has_them_in_their_order() -> None:
    section = PAGE.read_text("utf-8").partition("## The rooms of")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    named = [re.findall(r"`(\w+)/?`", row) for row in rows]
    assert [n for names in named for n in names] == [n for names in STACK for n in names if n not in WITHIN_IR]


def test_drawing_of_the_rooms_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == with_part(PAGE, "tools.rooms", drawing()), "run `python -m tools.rooms`"


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(m) for m in import_graph()} - {"", "dialects", "passes", "frontends", "backends"}
    assert rooms == FLOORS.keys()


def test_rooms_import_those_before_them() -> None:
    wrong = [
        f"{module} imports {other.module}"
        for module, found in import_graph().items()
        for other in found
        if not other.for_types and FLOORS.get(room_of(other.module), -1) > FLOORS.get(room_of(module), len(FLOORS))
    ]
    assert not wrong, "\n".join(sorted(wrong))


def test_tests_of_other_projects_are_no_part_of_ours() -> None:
    """Nothing but `compat` imports the backend interface of `onnx` and its test runner."""
    graph = [m for m in modules().items() if room_of(m[0]) != "compat"]
    wrong = [
        name for name, path in graph if re.search(r"^\s*(from|import) onnx\.backend", path.read_text("utf-8"), re.M)
    ]
    assert not wrong


def test_imports_run_in_no_circle() -> None:
    graph = {m: {o.module for o in found if not o.for_types} for m, found in import_graph().items()}
    assert not circles(graph)
