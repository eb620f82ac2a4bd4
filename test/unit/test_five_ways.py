"""One block, run at every level and optimisation level: all elements equal those of the relay oracles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from lamina.dialects.entry_names import level_of
from lamina.driver.execute import run_module
from lamina.driver.pipelines import LEVELS, Pipeline
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline, run_pipeline

INPUTS = Path(__file__).parents[1] / "execute" / "inputs"


def execute(file: str, pipeline: str, level: str, arrays: dict[str, Any]) -> dict[str, Any]:
    ctx = LaminaContext()
    module = Parser(ctx, (INPUTS / file).read_text()).parse_module()
    run_pipeline(module, ctx, parse_pipeline(pipeline))
    assert level_of(module) == level
    return run_module(module, ctx, "main", arrays)


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3, 4])
def test_all_levels_agree_in_every_element(opt_level: int) -> None:
    arrays = execute("arrays.mlir", "", "te", {})
    expected = execute("block.mlir", "", "relay", arrays)["y"]
    stages = {level: Pipeline(opt_level).text(level) for level in LEVELS[1:]}
    pipelines = {
        "te": stages["te"],
        "tir": f"{stages['te']},te-to-tir",
        "tir, planned": f"{stages['te']},{stages['tir']}",
        "llvm": ",".join(stages.values()),
    }
    for name, pipeline in pipelines.items():
        found = execute("block.mlir", pipeline, name.partition(",")[0], arrays)["y"]
        np.testing.assert_array_equal(found, expected, err_msg=f"{name} at opt_level {opt_level}")
