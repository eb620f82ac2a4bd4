"""Special functions of ATen's table near the places where one formula gives way to another, and far out.

The values are SciPy's (1.17), to twelve digits.
"""

from __future__ import annotations

import numpy as np
import pytest

from lamina.frontends.aten.fx_text import read_graph
from lamina.frontends.aten.importer import import_graph
from lamina.interpreters.relay_reference import main_function, run_relay

X = (1e-3, 0.5, 3.7, 11.9, 12.1, 40.5, 200.0, 1e3, 1e5)
AIRY = (-50.0, -7.1, -6.9, -1.5, 0.0, 1.9, 2.1, 10.0, 30.0)
VALUES = {
    "scaled_modified_bessel_k0": (
        7.03071600238, 1.52410938577, 0.632218059199, 0.35966760546, 0.356740108026, 0.196339712244, 0.0885674583393,
        0.0396283216008, 0.00396332234347,
    ),
    "scaled_modified_bessel_k1": (
        1000.99673456, 2.73100970821, 0.71300650105, 0.374485891119, 0.371199245984, 0.198749052556, 0.088788601585,
        0.039648130813, 0.00396334216004,
    ),
    "bessel_y0": (
        -4.47141661138, -0.444518733507, 0.10607431532, -0.229833213943, -0.218438380551, 0.113343314374,
        -0.0542657752498, 0.00471591797762, 0.00184676615886,
    ),
    "bessel_y1": (
        -636.622167231, -1.47147239267, 0.416674372684, -0.034711498334, -0.0787369314514, 0.0549858425005,
        0.0153018245804, -0.0247843312924, 0.0017192103501,
    ),
    "airy_ai": (
        -0.161881423612, 0.254036328562, 0.10168799774, 0.464256577749, 0.355028053888, 0.0405944200315,
        0.0299526021159, 1.10475325529e-10, 3.20821759155e-49,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_are_right_on_both_sides_of_each_formula(name: str) -> None:
    x, expected = np.asarray(AIRY if name == "airy_ai" else X), np.asarray(VALUES[name])
    text = f"""
def forward(self, x: "f64[{len(x)}]"):
    y: "f64[{len(x)}]" = torch.ops.aten.special_{name}.default(x)
    return (y,)
"""
    imported = import_graph(read_graph(text, name))
    (found,) = run_relay(main_function(imported.module), [x], imported.store)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 if "bessel_y" in name else 0)
