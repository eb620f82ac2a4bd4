"""Networks of MXNet's and TensorFlow's zoos, files that these frameworks wrote, against what they computed.

The files are large and no part of the repository; each framework needs an environment of its own, which writes them:

    python test/oracles/mxnet/zoo.py FOLDER; python test/oracles/tensorflow/zoo.py FOLDER
    LAMINA_ZOO=FOLDER pytest test/oracles/test_zoo.py
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import lamina

ZOO = os.environ.get("LAMINA_ZOO", "")
FILES = sorted(p for p in Path(ZOO).iterdir() if p.name.endswith(("-symbol.json", ".pb"))) if ZOO else []


@pytest.mark.skipif(not FILES, reason="LAMINA_ZOO names no folder of networks (see above)")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_a_network_computes_what_its_framework_computed(path: Path) -> None:
    stem = path.name.removesuffix("-symbol.json").removesuffix(".pb")
    with np.load(path.with_name(f"{stem}.npz")) as stored:
        inputs = {name.removeprefix("in "): stored[name] for name in stored if name.startswith("in ")}
        own, expected = stored["own"], stored["out"]
    shapes = {name: list(value.shape) for name, value in inputs.items()}
    (result,) = lamina.compile(path, shapes=shapes, threads=1).run(inputs).values()
    assert result.shape == expected.shape
    # With drawn weights a network may make a thousand of the last bit: the framework's own error is the measure.
    far, owns_far = (np.abs(y - expected).max() / np.abs(expected).max() for y in (result, own))
    print(f"{path.name}: {far:.1e} from double precision, the framework {owns_far:.1e}")
    assert far <= max(1e-5, 4 * owns_far)
