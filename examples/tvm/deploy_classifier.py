"""A classifier compiled, run, saved in three files and run from them, as programs of TVM's first years do it.

    python examples/tvm/deploy_classifier.py [layers [size]]

Changed are the imports, the download of the picture, and where the network comes from: `relay.testing` instead of
another framework's checkpoint.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.compat.tvm.contrib import graph_runtime
from lamina.compat.tvm.relay import testing


def transform_image(im: Any) -> Any:
    im = np.array(im).astype(np.float32)
    im = np.transpose(im, [2, 0, 1])
    im = im[np.newaxis, :]
    return im


def main(layers: int = 18, size: int = 224, folder: str | None = None) -> dict[str, Any]:
    shape = (3, size, size)
    relay_func, relay_params = testing.resnet.get_workload(num_layers=layers, image_shape=shape)

    target = "llvm"
    with relay.build_config(opt_level=3):
        graph, lib, params = relay.build(relay_func, target, params=relay_params)

    # A picture that is drawn.
    x = transform_image(np.random.default_rng(0).integers(0, 256, (size, size, 3)))

    ctx = tvm.cpu(0)
    dtype = "float32"
    m = graph_runtime.create(graph, lib, ctx)
    m.set_input("data", tvm.nd.array(x.astype(dtype)))
    m.set_input(**params)
    m.run()
    outputs = m.get_output(0)
    top1 = np.argmax(outputs.asnumpy()[0])

    deploy = Path(folder or tempfile.mkdtemp())
    path_lib = str(deploy / "deploy_resnet_lib.tar")
    lib.export_library(path_lib)
    with open(deploy / "deploy_resnet_graph.json", "w") as f:
        f.write(graph)
    with open(deploy / "deploy_params", "wb") as f:
        f.write(relay.save_param_dict(params))

    loaded_json = open(deploy / "deploy_resnet_graph.json").read()
    loaded_lib = tvm.module.load(path_lib)
    loaded_params = bytearray(open(deploy / "deploy_params", "rb").read())
    module = graph_runtime.create(loaded_json, loaded_lib, ctx)
    module.load_params(loaded_params)
    module.set_input("data", tvm.nd.array(x.astype(dtype)))
    module.run()
    again = module.get_output(0).asnumpy()
    print(f"class={top1}, from the files class={np.argmax(again[0])}")
    return {"input": x, "output": outputs.asnumpy(), "again": again, "module": relay_func, "params": relay_params}


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:3]]
    layers, size = given + [18, 224][len(given) :]
    main(layers, size)
