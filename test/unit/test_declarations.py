"""An op that forgets what its base leaves open is refused where it is declared."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.elementwise.fast_math import FastFunction
from lamina.dialects.relay.families import Broadcast, Elementwise
from lamina.dialects.relay.qnn.unary import QnnUnary
from lamina.dialects.relay.reduce.scan import Cumulative
from lamina.dialects.relay.value_dependent import BecomesStatic, OnHost
from lamina.dialects.schedule.primitive import PrimitiveOp
from lamina.dialects.tir.memory import AccessOp

OPEN = [
    (Elementwise, "te_element"),
    (Broadcast, "te_element"),
    (FastFunction, "approximation, function"),
    (QnnUnary, "of_array, of_value"),
    (Cumulative, "combine"),
    (RelayOp, "infer_type"),
    (BecomesStatic, "infer_type, static"),
    (OnHost, "infer_type, on_host"),
    (PrimitiveOp, "apply"),
    (AccessOp, "value_type"),
]


@pytest.mark.parametrize(("base", "missing"), OPEN, ids=lambda v: v.__name__ if isinstance(v, type) else v)
def test_what_is_forgotten_is_named(base: type[Any], missing: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"ForgetfulOp (test.forgetful) does not declare {missing}")):
        type("ForgetfulOp", (base,), {"name": "test.forgetful"})


@pytest.mark.parametrize(("base", "missing"), OPEN, ids=lambda v: v.__name__ if isinstance(v, type) else v)
def test_a_base_leaves_open_what_it_likes_and_an_op_declares_it(base: type[Any], missing: str) -> None:
    further = type("FurtherBase", (base,), {})
    declared = {name: staticmethod(lambda *_: None) for name in missing.split(", ")}
    assert type("CompleteOp", (further,), {"name": "test.complete", **declared}).name == "test.complete"  # type: ignore[attr-defined]
