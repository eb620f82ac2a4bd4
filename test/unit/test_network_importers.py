"""`relay.frontend.from_mxnet`, `from_darknet` and `from_caffe` in TVM's form, without these frameworks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lamina.compat.mxnet as mx
import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.contrib import graph_executor
from lamina.errors import InputError, UsageError

relay: Any = _relay
INPUTS = Path(__file__).parent / "inputs"


def computed(mod: Any, params: Any, x: Any) -> list[Any]:
    """The results of a program that is built and run as TVM's tutorials do."""
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, "llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    module.set_input("data", x)
    module.run()
    return [module.get_output(k).numpy() for k in range(module.get_num_outputs())]


def test_a_checkpoint_of_mxnet_is_loaded_imported_and_run() -> None:
    symbol, arg_params, aux_params = mx.model.load_checkpoint(str(INPUTS / "mxnet" / "net"), 0)
    assert "data" in symbol.list_arguments() and all("running" in n for n in aux_params)
    with np.load(INPUTS / "mxnet" / "net.npz") as stored:
        x, y = stored["x"], stored["y"]
    mod, params = relay.frontend.from_mxnet(symbol, {"data": x.shape}, arg_params=arg_params, aux_params=aux_params)
    assert [p.name_hint for p in mod["main"].params][0] == "data" and set(params) <= {*arg_params, *aux_params}
    np.testing.assert_allclose(computed(mod, params, x)[0], y, rtol=1e-4, atol=1e-5)
    with pytest.raises(UsageError, match=r"takes a symbol, not dict; block.export"):
        relay.frontend.from_mxnet({})
    with pytest.raises(InputError, match="no such file"):
        mx.model.load_checkpoint("nowhere", 3)


def test_a_network_of_darknet_has_tvms_results() -> None:
    cfg = INPUTS / "darknet" / "net.cfg"
    with np.load(INPUTS / "darknet" / "net.npz") as stored:
        x = stored["x"].astype(np.float32)
    for net in ((str(cfg), str(cfg.with_suffix(".weights"))), SimpleNamespace(cfg=cfg, weights=None), cfg):
        mod, params = relay.frontend.from_darknet(net, dtype="float32", shape=x.shape)
    found = computed(mod, params, x)
    assert [v.shape for v in found] == [
        (1, 21, 24, 16), (3,), (12,), (6,), (1, 21, 12, 8), (3,), (12,), (6,),
    ]  # fmt: skip
    assert found[1].tolist() == [0, 1, 2] and found[5].tolist() == [3, 4, 5]
    assert found[2][:4].tolist() == [10, 14, 23, 27] and found[3].tolist() == [3, 21, 24, 16, 2, 6]
    with pytest.raises(UsageError, match="takes the paths"):
        relay.frontend.from_darknet(object())


class Message:
    """A message as protobuf's Python has it: it prints as text, and is written as bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return self.path.read_text("utf-8")

    def SerializeToString(self) -> bytes:  # noqa: N802
        return self.path.read_bytes()


def test_a_network_of_caffe_is_two_messages() -> None:
    text, weights = INPUTS / "caffe" / "net.prototxt", INPUTS / "caffe" / "net.caffemodel"
    with np.load(INPUTS / "caffe" / "net.npz") as stored:
        x, y = stored["x"], stored["y"]
    for init_net, predict_net in ((Message(weights), Message(text)), (weights, str(text))):
        mod, params = relay.frontend.from_caffe(init_net, predict_net, {"data": x.shape}, {"data": "float32"})
    np.testing.assert_allclose(computed(mod, params, x)[0], y, rtol=1e-4, atol=1e-6)
    with pytest.raises(UsageError, match="init_net is a NetParameter"):
        relay.frontend.from_caffe(3, str(text))
