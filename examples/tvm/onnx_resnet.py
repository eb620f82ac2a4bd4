"""ResNet-50 from ONNX: import, build, run, post-processing, timing, as TVM's tutorial for the x86 has it.

    python examples/tvm/onnx_resnet.py [model.onnx]

Changed are the imports and the downloads: without an argument the model is the one that the onnx package ships with
its tests (its weights are made up), the picture is drawn, and labels are numbers.
"""

import sys
import timeit
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test

import lamina.compat.tvm as tvm
import lamina.compat.tvm.relay as relay
from lamina.compat.tvm.contrib import graph_executor


def main(path: str | None = None, repeats: int = 10) -> dict[str, Any]:
    shipped = Path(onnx.backend.test.__file__).parent / "data" / "light" / "light_resnet50.onnx"
    onnx_model: Any = onnx.load(path or str(shipped))  # pyright: ignore[reportUnknownMemberType]
    np.random.seed(0)

    # HWC, 0..255, as a picture is read.
    img_data: Any = np.random.randint(0, 256, (224, 224, 3)).astype("float32")
    img_data = np.transpose(img_data, (2, 0, 1))
    imagenet_mean = np.array([0.485, 0.456, 0.406]).reshape((3, 1, 1))
    imagenet_stddev = np.array([0.229, 0.224, 0.225]).reshape((3, 1, 1))
    norm_img_data = (img_data / 255 - imagenet_mean) / imagenet_stddev
    img_data = np.expand_dims(norm_img_data, axis=0).astype("float32")

    weights = {t.name for t in onnx_model.graph.initializer}
    input_name = next(i.name for i in onnx_model.graph.input if i.name not in weights)
    target = "llvm"
    shape_dict = {input_name: img_data.shape}
    mod, params = relay.frontend.from_onnx(onnx_model, shape_dict)
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=target, params=params)
    dev = tvm.device(target, 0)
    module = graph_executor.GraphModule(lib["default"](dev))

    module.set_input(input_name, img_data)
    module.run()
    output_shape = (1, 1000)
    tvm_output = module.get_output(0, tvm.nd.empty(output_shape)).numpy()

    timing = np.array(timeit.Timer(lambda: module.run()).repeat(repeat=repeats, number=repeats)) * 1000 / repeats
    unoptimized = {"mean": np.mean(timing), "median": np.median(timing), "std": np.std(timing)}
    print(unoptimized)

    scores = np.squeeze(tvm_output)
    ranks = np.argsort(scores)[::-1]
    for rank in ranks[0:5]:
        print(f"class={rank} with probability={scores[rank]:f}")
    return {"input": img_data, "output": tvm_output, "module": mod, "times": unoptimized}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
