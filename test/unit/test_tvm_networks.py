"""`relay.testing`: the networks, by the numbers of parameters and multiplications that are published, and run small."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.contrib import graph_executor

pytestmark = pytest.mark.slow

relay: Any = _relay
testing: Any = relay.testing

SIZES: dict[str, tuple[str, dict[str, Any], int, int]] = {
    # Parameters without running means, and multiplications with an addition, of one image.
    "mobilenet": ("mobilenet", {}, 4_231_976, 568_740_352),
    "mobilenet NHWC": ("mobilenet", {"image_shape": (224, 224, 3), "layout": "NHWC"}, 4_231_976, 568_740_352),
    "vgg 16": ("vgg", {"num_layers": 16}, 138_357_544, 15_470_264_320),
    "squeezenet 1.0": ("squeezenet", {}, 1_248_424, 777_221_152),
    "squeezenet 1.1": ("squeezenet", {"version": "1.1"}, 1_235_496, 349_151_936),
    "densenet 121": ("densenet", {}, 7_978_856, 2_834_161_664),
    "inception v3": ("inception_v3", {}, 23_834_568, 5_713_216_096),
    "dqn": ("dqn", {}, 1_693_362, 9_352_192),
    # A network with the activation first has 2438 more than the first ResNet-18, of 11,689,512: the norms of the
    # input (6) and at the end (1024), those of the shortcuts away (-1792), one before each stage as wide as its input.
    "resnet 18": ("resnet", {"num_layers": 18}, 11_691_950, 1_826_918_400),
    "resnet 50": ("resnet", {"num_layers": 50}, 25_549_486, 4_089_184_256),
    "resnet 20": ("resnet", {"num_layers": 20, "num_classes": 10, "image_shape": (3, 28, 28)}, 272_544, 31_448_448),
}


def count(mod: Any) -> int:
    shapes: dict[str, tuple[int, ...]] = {p.name_hint: p.checked_type.concrete_shape for p in mod["main"].params}
    running = ("moving_mean", "moving_var", "data")
    return sum(prod(s) for n, s in shapes.items() if not n.endswith(running))


@pytest.mark.parametrize("name", SIZES)
def test_networks_have_the_sizes_that_are_published(name: str) -> None:
    module, arguments, parameters, multiplications = SIZES[name]
    mod = tvm.IRModule.from_expr(getattr(testing, module).get_net(batch_size=1, **arguments))
    mod.ir()
    assert count(mod) == parameters
    assert relay.analysis.get_total_mac_number(mod["main"]) == multiplications
    assert mod["main"].checked_type.ret_type.shape[0] == 1


def run(mod: Any, params: Any, data: Any, level: int = 3) -> Any:
    with tvm.transform.PassContext(opt_level=level):
        lib = relay.build(mod, "llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.run(data=data)
    return module.get_output(0).numpy()


SMALL: dict[str, tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]] = {
    "dcgan": ({"batch_size": 2, "ngf": 4, "random_len": 5}, (2, 5), (2, 3, 64, 64)),
    "dqn": ({"batch_size": 2, "image_shape": (4, 36, 36), "num_actions": 5}, (2, 4, 36, 36), (2, 5)),
    "synthetic": ({}, (1, 3, 24, 12), (1, 3, 24, 12)),
    "mlp": ({"batch_size": 3}, (3, 1, 28, 28), (3, 10)),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n in ("dcgan", "dqn") else n for n in SMALL]
)
def test_workloads_run_as_they_are_and_optimised(name: str) -> None:
    arguments, given, wanted = SMALL[name]
    mod, params = getattr(testing, name).get_workload(**arguments)
    data = np.random.default_rng(0).standard_normal(given).astype("float32")
    found = [run(mod, params, data, level) for level in (0, 3)]
    assert found[0].shape == wanted and np.ptp(found[0]) > 1e-3
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-5)


def test_an_lstm_takes_the_steps_that_numpy_takes() -> None:
    steps, hidden, batch = 3, 4, 2
    mod, params = testing.lstm.get_workload(steps, hidden, batch)
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {n: rng.standard_normal(v.shape, "float32") * 0.5 for n, v in params.items()}
    data: Any = rng.standard_normal((batch, hidden)).astype("float32")
    assert len(given) == 4 * steps

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    h: Any = np.zeros((batch, hidden), "float32")
    c: Any = h
    for n in range(steps):
        last = f"_{n}" if n else ""
        sums = data @ given[f"i2h_weight{last}"].T + given[f"i2h_bias{last}"]
        sums = sums + h @ given[f"h2h_weight{last}"].T + given[f"h2h_bias{last}"]
        enter, keep, new, leave = np.split(sums, 4, axis=1)
        c = sigmoid(keep) * c + sigmoid(enter) * np.tanh(new)
        h = sigmoid(leave) * np.tanh(c)
    np.testing.assert_allclose(run(mod, given, data), h, rtol=1e-4, atol=1e-6)


def test_a_video_network_and_deeper_ones_are_formed() -> None:
    for net, shape in (
        (testing.resnet_3d.get_net(1, 7, 18, (3, 8, 64, 64)), (1, 7)),
        (testing.resnet.get_net(2, 5, 164, (3, 16, 16)), (2, 5)),
        (testing.vgg.get_net(1, (3, 32, 32), 4, num_layers=11, batch_norm=True), (1, 4)),
    ):
        assert tvm.IRModule.from_expr(net)["main"].checked_type.ret_type.shape == shape


def test_weights_are_filled_by_an_initializer_of_ones_own() -> None:
    seen: list[str] = []

    def ones(name: str, arr: Any) -> None:
        seen.append(name)
        arr[...] = 1

    mod, params = testing.create_workload(testing.mlp.get_net(1), ones)
    assert seen == list(params) and all((v.numpy() == 1).all() for v in params.values())
    assert [p.name_hint for p in mod["main"].params if p.name_hint != "data"] == list(params)
    first, second = (testing.mlp.get_workload(1)[1] for _ in range(2))
    assert all(np.array_equal(first[n].numpy(), second[n].numpy()) for n in first)


def test_what_there_is_not_is_named() -> None:
    for call, said in (
        (lambda: testing.resnet.get_net(num_layers=19), "no resnet of 19 layers; there are 18, 34, 50"),
        (lambda: testing.vgg.get_net(1, num_layers=12), "no vgg of 12 layers"),
        (lambda: testing.squeezenet.get_net(version="2"), "no squeezenet '2'; there are 1.0, 1.1"),
        (lambda: testing.densenet.get_net(100), "no densenet of 100 layers"),
        (lambda: testing.dcgan.get_net(1, oshape=(3, 32, 32)), "of 64 by 64"),
        (lambda: testing.mobilenet.get_net(layout="NCWH"), "no layout 'NCWH'"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
