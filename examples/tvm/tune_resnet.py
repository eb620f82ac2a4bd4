"""ResNet-50 tuned with AutoTVM, as TVM's tutorial has it: tasks, a tuner for each, a log, and a build with its best.

    python examples/tvm/tune_resnet.py [model.onnx]

Changed are the imports and the downloads: without an argument the model is the one that the onnx package ships with
its tests.
"""

import sys
import tempfile
import timeit
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test

import lamina.compat.tvm as tvm
import lamina.compat.tvm.relay as relay
from lamina.compat.tvm import autotvm
from lamina.compat.tvm.autotvm.tuner import GATuner, GridSearchTuner, RandomTuner, XGBTuner
from lamina.compat.tvm.contrib import graph_executor

number = 10
repeat = 1
min_repeat_ms = 0
timeout = 10

runner = autotvm.LocalRunner(
    number=number,
    repeat=repeat,
    timeout=timeout,
    min_repeat_ms=min_repeat_ms,
    enable_cpu_cache_flush=True,
)


def tuner_for(task: Any, tuner: str) -> Any:
    """A tuner by the tutorial's name: `xgb_rank_knob` learns an order of the knobs' decisions."""
    if tuner == "ga":
        return GATuner(task, pop_size=50)
    if tuner == "random":
        return RandomTuner(task)
    if tuner == "gridsearch":
        return GridSearchTuner(task)
    words = tuner.split("_")
    if words[0] != "xgb" or len(words) > 4:
        raise ValueError("Invalid tuner: " + tuner)
    loss = "rank-binary" if "binary" in words else "rank" if "rank" in words else "reg"
    features = next((w for w in words if w in ("knob", "itervar", "curve")), "itervar")
    return XGBTuner(task, loss_type=loss, feature_type=features)


def main(path: str | None = None, tuner: str = "xgb", trials: int = 20, most: int | None = None) -> dict[str, Any]:
    """Tune the first `most` tasks, or all: outputs before and after, and milliseconds of both."""
    shipped = Path(onnx.backend.test.__file__).parent / "data" / "light" / "light_resnet50.onnx"
    onnx_model: Any = onnx.load(path or str(shipped))  # pyright: ignore[reportUnknownMemberType]
    weights = {t.name for t in onnx_model.graph.initializer}
    input_name = next(i.name for i in onnx_model.graph.input if i.name not in weights)
    np.random.seed(0)
    img_data: Any = np.random.uniform(-1, 1, (1, 3, 224, 224)).astype("float32")
    target = "llvm"
    mod, params = relay.frontend.from_onnx(onnx_model, {input_name: img_data.shape})
    records = str(Path(tempfile.mkdtemp()) / "resnet-50-v2-autotuning.json")
    tuning_option: dict[str, Any] = {
        "trials": trials,
        "early_stopping": 100,
        "measure_option": autotvm.measure_option(builder=autotvm.LocalBuilder(build_func="default"), runner=runner),
        "tuning_records": records,
    }

    def measured() -> tuple[Any, dict[str, Any]]:
        with tvm.transform.PassContext(opt_level=3, config={}):
            lib = relay.build(mod, target=target, params=params)
        module = graph_executor.GraphModule(lib["default"](tvm.device(target, 0)))
        module.set_input(input_name, img_data)
        module.run()
        output = module.get_output(0).numpy()
        times = np.array(timeit.Timer(lambda: module.run()).repeat(repeat=5, number=2)) * 1000 / 2
        return output, {"mean": np.mean(times), "median": np.median(times), "std": np.std(times)}

    before, unoptimized = measured()
    tasks = autotvm.task.extract_from_program(mod["main"], target=target, params=params)[:most]
    for i, task in enumerate(tasks):
        prefix = f"[Task {i + 1:2d}/{len(tasks):2d}] "
        tuner_for(task, tuner).tune(
            n_trial=min(tuning_option["trials"], len(task.config_space)),
            early_stopping=tuning_option["early_stopping"],
            measure_option=tuning_option["measure_option"],
            callbacks=[
                autotvm.callback.progress_bar(tuning_option["trials"], prefix=prefix),
                autotvm.callback.log_to_file(tuning_option["tuning_records"]),
            ],
        )
    with autotvm.apply_history_best(tuning_option["tuning_records"]):
        after, optimized = measured()
    print(f"optimized: {optimized}")
    print(f"unoptimized: {unoptimized}")
    return {"before": before, "after": after, "unoptimized": unoptimized, "optimized": optimized, "records": records}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
