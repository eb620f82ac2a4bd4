"""The models of the benchmarks by name, values for their inputs, and the processor that they run on.

They are onnx's nine light ones, those of `zoo.py`, of `newer.py` and of `quantised.py`, with random weights.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))


def model_names() -> list[str]:
    """The models that there are, in the order of the table."""
    import models
    import zoo
    from newer import NEWER
    from quantised import QUANTISED

    return [*models.LIGHT_MODELS, *zoo.ZOO, *NEWER, *QUANTISED]


def model_proto(name: str) -> Any:
    """A model with random weights."""
    import models
    import zoo
    from newer import NEWER
    from quantised import QUANTISED

    made = {**zoo.ZOO, **NEWER, **QUANTISED}.get(name)
    return made() if made is not None else models.light_model(name)


def drawn_inputs(ports: Sequence[Any]) -> dict[str, Any]:
    """Values for the inputs of a model, the same at every call."""
    import zoo

    from lamina.measure.timing import random_inputs

    return {**random_inputs(ports), **zoo.token_inputs(ports)}


def processor_name() -> str:
    """The name that the system has for this processor."""
    try:
        rows = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((row.partition(":")[2].strip() for row in rows if row.startswith("model name")), platform.processor())
