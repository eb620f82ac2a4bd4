"""The streaming wake-word nets of microWakeWord, 8 bits throughout: 1,000 frames and their state, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from ai_edge_litert.interpreter import (  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
    Interpreter,
    OpResolverType,
)

import lamina  # noqa: E402
from lamina.frontends.tflite.graph import TfliteNode  # noqa: E402
from lamina.frontends.tflite.reader import read_model  # noqa: E402

pytestmark = pytest.mark.slow
FOUND = find_spec("pymicro_wakeword")
MODELS = sorted(Path(FOUND.submodule_search_locations[0]).glob("models/*.tflite")) if FOUND else []  # pyright: ignore
FRAMES = 1000


def frames(shape: tuple[int, ...]) -> Any:
    """Features as of speech: bands that rise and fall together, with silence between."""
    rng = np.random.default_rng(7)
    level = np.zeros(shape[1:])
    for k in range(FRAMES):
        speaks = k // 60 % 3 > 0
        level = 0.8 * level + rng.normal(18 if speaks else 0, 14, shape[1:])
        noise = rng.integers(-128, 128, shape) if k % 100 == 99 else 0
        yield np.clip(np.rint(level - 128 + noise), -128, 127).astype(np.int8).reshape(shape)


def assigned(data: bytes) -> list[str]:
    """The tensors that become the states of the next frame."""
    nodes = [n for n in read_model(data, 1 << 30).subgraphs[0].nodes if n.op.endswith("ASSIGN_VARIABLE")]
    return [n.operands[1].name for n in nodes if isinstance(n, TfliteNode) and n.operands[1] is not None]


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_every_frame(path: Path) -> None:
    data = path.read_bytes()
    it: Any = Interpreter(
        model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )  # fmt: skip
    it.allocate_tensors()
    (source,), (target,) = it.get_input_details(), it.get_output_details()
    names = set(assigned(data))
    states = [d["index"] for d in it.get_tensor_details() if d["name"] in names]
    assert len(states) == 6
    session = lamina.compile(path, cache=False).session()
    name, seen = session.inputs[0].name, set[int]()
    for frame in frames(tuple(source["shape"])):
        it.set_tensor(source["index"], frame)
        it.invoke()
        (found,) = session.run({name: frame}).values()
        wanted = it.get_tensor(target["index"])
        np.testing.assert_array_equal(found, wanted)
        seen.add(int(wanted.reshape(-1)[0]))
        ours = sorted(v.tobytes() for v in session.state.values())
        assert ours == sorted(it.get_tensor(index).tobytes() for index in states)
    assert len(seen) > 3


def test_all_models_are_there() -> None:
    assert len(MODELS) == 4
