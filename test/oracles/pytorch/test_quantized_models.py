"""Quantised models in scripts, against torch on one thread, with FBGEMM's kernels: eager mode's, FX's, dynamic ones.

`test_quantized.py` has the operators.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from quantized_scripts import NORM, REDUCED, VECTOR, arrays, compiled, equal, outcomes, weight_of

import lamina

torch = pytest.importorskip("torch")
F, nn, Q = torch.nn.functional, torch.nn, torch.ops.quantized

pytestmark = pytest.mark.usefixtures("fbgemm")


class Residual(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(outputs), nn.ReLU()
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.down = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.fused = [["conv1", "bn1", "relu"], ["conv2", "bn2"], ["down.0", "down.1"]]

    def forward(self, x):
        return self.add.add_relu(self.conv2(self.relu(self.conv1(x))), self.down(x))


class Inverted(nn.Module):
    """MobileNetV2's block: to more channels, each by itself, back, and a way around."""

    def __init__(self, count: int) -> None:
        super().__init__()
        wide = count * 4
        self.body = nn.Sequential(
            nn.Conv2d(count, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, count, 1, bias=False), nn.BatchNorm2d(count),
        )  # fmt: skip
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.fused = [["body.0", "body.1"], ["body.3", "body.4"], ["body.6", "body.7"]]

    def forward(self, x):
        return self.add.add(x, self.body(x))


class Images(nn.Module):
    def __init__(self, *blocks: Any, channels: int) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.stem, self.relu, self.pool = nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2)
        self.blocks, self.mean, self.fc = nn.Sequential(*blocks), nn.AdaptiveAvgPool2d(1), nn.Linear(channels, 10)
        self.fused = [["stem", "relu"]]

    def forward(self, x):
        x = self.blocks(self.pool(self.relu(self.stem(self.quant(x)))))
        return self.dequant(self.fc(self.mean(x).flatten(1)))


def quantised(model: Any, x: Any) -> Any:
    """The model in eager mode's static quantisation, calibrated on a few inputs like x."""
    from torch.ao.quantization import convert, fuse_modules, get_default_qconfig, prepare

    model.eval()
    for module in model.modules():
        if hasattr(module, "fused"):
            fuse_modules(module, module.fused, inplace=True)
    model.qconfig = get_default_qconfig("fbgemm")
    model = prepare(model)
    for _ in range(3):
        model(torch.randn_like(x))
    return convert(model)


MODELS: dict[str, Callable[[], Any]] = {
    "ResNet": lambda: Images(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2), channels=64),
    "MobileNet": lambda: Images(Inverted(16), Inverted(16), channels=16),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", ["traced", "scripted", "frozen"])
def test_models_of_images(name: str, way: str) -> None:
    torch.manual_seed(1)
    x = torch.randn(1, 3, 64, 64)
    model = quantised(MODELS[name](), x)
    script = torch.jit.trace(model, x) if way == "traced" else torch.jit.script(model)
    script = torch.jit.freeze(script) if way == "frozen" else script
    equal(list(zip(arrays(model(x)), compiled(script, [x]), strict=True)))


LAYERS: dict[str, Any] = {
    "Conv1d": (lambda: nn.Conv1d(8, 6, 3, padding=1), (2, 8, 12)),
    "Conv1d with reflections": (lambda: nn.Conv1d(8, 6, 3, padding=1, padding_mode="reflect"), (2, 8, 12)),
    "Conv2d with reflections": (lambda: nn.Conv2d(8, 6, 3, padding=1, padding_mode="reflect"), (2, 8, 9, 10)),
    "Conv3d": (lambda: nn.Conv3d(8, 6, 3, padding=1), (1, 8, 5, 6, 7)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(8), (2, 8, 9, 10)),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(8), (1, 8, 5, 6, 7)),
    "LayerNorm": (lambda: nn.LayerNorm(10), (2, 8, 9, 10)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(8, affine=True), (2, 8, 9, 10)),
    "ELU": (lambda: nn.ELU(), (2, 8, 8, 8)),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), (2, 8, 8, 8)),
    "Hardswish": (lambda: nn.Hardswish(), (2, 8, 8, 8)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (2, 8, 8, 8)),
    "Linear, ReLU": (lambda: nn.Sequential(nn.Linear(16, 5), nn.ReLU()), (4, 16)),
}


class Layer(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.layer = layer

    def forward(self, x):
        return self.dequant(self.layer(self.quant(x)))


@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_are_converted(name: str) -> None:
    """Modules of torch.ao.nn.quantized, whose weights a script packs as it is read; traced and scripted alike."""
    make, shape = LAYERS[name]
    torch.manual_seed(6)
    x = torch.randn(shape)
    model = quantised(Layer(make()), x)
    for script in (torch.jit.trace(model, x), torch.jit.script(model)):
        equal([(model(x).numpy(), compiled(script, [x])[0])])


def test_a_model_of_fx() -> None:
    """What convert_fx makes: scales are buffers, sums with numbers, channels cut and put together."""
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.again, self.fc = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(16, 5)

        def forward(self, x):
            x = torch.relu(self.bn(self.conv(x)))
            y = self.again(x)
            x = torch.cat([torch.relu(x + y) * 0.5 + 1, F.hardswish(y)], 1)
            x = F.avg_pool2d(F.interpolate(x, scale_factor=2.0), 2)
            return self.fc(torch.sigmoid(x).mean([2, 3]))

    torch.manual_seed(2)
    x = torch.randn(2, 3, 8, 8)
    model = prepare_fx(Net().eval(), get_default_qconfig_mapping("fbgemm"), (x,))
    for _ in range(3):
        model(torch.randn_like(x))
    equal(outcomes(convert_fx(model), [x]))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
        self.first, self.second = nn.LayerNorm(32), nn.LayerNorm(32)

    def forward(self, x):
        q, k, v = (t.reshape(2, 6, 4, 8).transpose(1, 2) for t in self.qkv(self.first(x)).chunk(3, -1))
        scores = torch.softmax(q @ k.transpose(-1, -2) * 8**-0.5, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(2, 6, 32))
        return x + self.down(torch.relu(self.up(self.second(x))))


@pytest.mark.parametrize("dtype", ["qint8", "float16"])
def test_a_transformer_with_dynamic_layers(dtype: str) -> None:
    """Floats between the layers are rounded otherwise, and a step of the data's scale moves with their ends."""
    torch.manual_seed(3)
    model = torch.ao.quantization.quantize_dynamic(Transformer().eval(), {nn.Linear}, dtype=getattr(torch, dtype))
    for expected, found in outcomes(model, [torch.randn(2, 6, 32)]):
        assert abs(expected - found).max() < 0.01 and np.mean(abs(expected - found)) < 1e-3


@pytest.mark.parametrize("per_channel", [False, True])
def test_dynamic_layers(per_channel: bool) -> None:
    """The scale is chosen from the data: small ones, all of one sign, and none."""
    from torch.ao.quantization import default_dynamic_qconfig, per_channel_dynamic_qconfig, quantize_dynamic

    chosen = per_channel_dynamic_qconfig if per_channel else default_dynamic_qconfig
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(33, 48), nn.ReLU(), nn.Linear(48, 7, bias=False)).eval()
    model = quantize_dynamic(model, {nn.Linear: chosen})
    x = torch.randn(2, 5, 33)
    data = BytesIO()
    torch.jit.save(torch.jit.trace(model, x), data)
    exe = lamina.compile(data.getvalue(), threads=1, shapes={"input": (2, 5, 33)})
    for given in (x, x * 90, x.abs() + 3, -x.abs() - 3, x * 1e-4, x.abs() * 1e-6, x * 0):
        expected = model(given).detach().numpy()
        made: Any = exe(given.numpy())
        np.testing.assert_array_equal(made[0] if isinstance(made, (list, tuple)) else made, expected)


class Recurrent(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        made = self.layer(x)
        if isinstance(made, torch.Tensor):
            return made
        rest = made[1] if isinstance(made[1], tuple) else made[1:]
        return (made[0], *rest)


RECURRENT: dict[str, Any] = {
    "LSTM": (lambda: nn.LSTM(5, 6), (7, 2, 5)),
    "LSTM of layers": (lambda: nn.LSTM(5, 6, 2, bidirectional=True, batch_first=True), (2, 4, 5)),
    "GRU": (lambda: nn.GRU(5, 6, 2), (5, 3, 5)),
    "LSTMCell": (lambda: nn.LSTMCell(5, 6), (3, 5)),
    "GRUCell": (lambda: nn.GRUCell(5, 6), (3, 5)),
    "RNNCell": (lambda: nn.RNNCell(5, 6, nonlinearity="relu"), (3, 5)),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers(name: str) -> None:
    """Sigmoids differ by a unit in the last place, which a step of the state's scale seldom shows."""
    make, shape = RECURRENT[name]
    torch.manual_seed(5)
    kinds = {nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}
    model = torch.ao.quantization.quantize_dynamic(Recurrent(make()).eval(), kinds)
    for expected, found in outcomes(model, [torch.randn(shape)]):
        assert abs(expected - found).max() < 0.01 and np.mean(abs(expected - found) > 1e-5) <= 0.05


class Chained(nn.Module):
    """Two convolutions, whose results have the channels last in memory, and what is done with them."""

    def __init__(self, function: Callable[[Any, Any], Any], count: int) -> None:
        super().__init__()
        rng = np.random.default_rng(count)
        self.function = function
        self.first, self.second = (
            Q.conv2d_prepack(weight_of(rng, (count, 3, 3, 3), "channel", 0), None, [1, 1], [1, 1], [1, 1], 1)
            for _ in range(2)
        )

    def forward(self, x):
        q = torch.quantize_per_tensor(x, 0.05, 60, torch.quint8)
        made = self.function(Q.conv2d(q, self.first, 0.5, 101), Q.conv2d(q, self.second, 0.25, 77))
        return [v.int_repr() for v in (made if isinstance(made, (tuple, list)) else [made])]


CHAINS: dict[str, Callable[[Any, Any], Any]] = {
    "pool": lambda x, y: (F.avg_pool2d(x, 2), F.avg_pool2d(y, 3, 2, 1), F.avg_pool2d(F.max_pool2d(x, 3, 1, 1), 2)),
    "one mean": lambda x, y: (F.adaptive_avg_pool2d(x, 1), y.mean([2, 3])),
    "cat": lambda x, y: (Q.cat([x, y], 1, 0.5, 3), torch.cat([x, y], 1), torch.cat([x, y], 2)),
    "sums": lambda x, y: (Q.add(x, y, 0.5, 31), Q.add_relu(Q.mul(x, y, 4.0, 9), y, 2.0, 1)),
    "sums with what lies otherwise": lambda x, y: (
        Q.add(x, y.contiguous(), 0.5, 31),
        Q.add_relu(x.contiguous(), y, 0.5, 1),
    ),
    "functions": lambda x, y: (F.avg_pool2d(Q.hardswish(x, 0.5, 7), 2), F.avg_pool2d(torch.sigmoid(y), 2)),
    "pool of what was moved": lambda x, y: (
        F.avg_pool2d(x.flip([2]), 2),
        F.avg_pool2d(F.interpolate(y, scale_factor=2.0), (2, 1), 1),
        F.avg_pool2d(F.interpolate(x, scale_factor=2.0, mode="nearest-exact"), (1, 2), 1),
        F.avg_pool2d(F.interpolate(y, scale_factor=2.0, mode="bilinear"), (1, 2), 1),
    ),
    "pool of other formats": lambda x, y: (
        F.avg_pool2d(Q.elu(x, 0.5, 31), 2),
        F.avg_pool2d(torch.channel_shuffle(y, 4), 2),
        F.avg_pool2d(torch.cat([x, y], 2), 2),
        F.avg_pool2d(F.pad(x, (1, 1, 1, 1), value=0.5), 2),
        F.avg_pool2d(Q.batch_norm2d(y.contiguous(), *(v.repeat(8) for v in NORM), 1e-5, 0.5, 31), 2),
        F.avg_pool2d(Q.layer_norm(x, [8], None, None, 1e-5, 0.5, 31), (1, 2)),
    ),
    "pool of a clone": lambda x, y: (F.avg_pool2d(torch.relu(x).contiguous(), 2), F.avg_pool2d(y.clone(), 2)),
}


@pytest.mark.parametrize("name", CHAINS)
def test_images_that_lie_with_their_channels_last(name: str) -> None:
    """Halves go the way of ATen's kernels for them, which have vectors of channels."""
    whole = np.random.default_rng(1).integers(0, REDUCED, (1, 3, 8, 8))
    x = torch.tensor((whole - 60) * 0.05, dtype=torch.float32)
    equal(outcomes(Chained(CHAINS[name], VECTOR), [x]))
