"""Writes quantised models beside this file, and what torch makes of an input in `quantized.json`.

`quantized.pt` is traced, of eager mode; `frozen.pt` is scripted and frozen, so that torch's own objects are constants;
`dynamic.pt` has dense layers that quantise their data. `../quantized_forms/torch.pt` is the convolution of that folder.

python test/unit/inputs/torchscript/make_quantized.py     needs torch, and a machine with VNNI
"""

# pyright: basic, reportMissingImports=false

import json
import warnings
from pathlib import Path

import torch
from torch import nn
from torch.ao.quantization import DeQuantStub, QuantStub, convert, get_default_qconfig, prepare, quantize_dynamic

FOLDER = Path(__file__).parent
Q = torch.ops.quantized


class Net(nn.Module):
    """A convolution with a relu, a sum, a concatenation, pools, functions, a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.conv = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU())
        self.again, self.hard = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False), nn.Hardswish()
        self.sum = torch.ao.nn.quantized.FloatFunctional()
        self.both = torch.ao.nn.quantized.FloatFunctional()
        self.head = nn.Linear(32, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(self.quant(x))
        y = self.sum.add(x, self.again(x))
        y = self.both.cat([self.hard(y), torch.nn.functional.max_pool2d(x, 3, 1, 1)], 1)
        return self.dequant(self.head(torch.nn.functional.adaptive_avg_pool2d(y, 2).flatten(1)))


class Convolution(nn.Module):
    """The convolution of `quantized_forms`: padded by itself behind, one scale a channel."""

    def __init__(self) -> None:
        super().__init__()
        w = [[[[0.5, -0.25], [1.0, 0.125]], [[-1.5, 0.75], [0.0, 2.0]], [[0.25, 0.5], [-0.5, -1.0]]],
             [[[0.25, 0.5], [-0.75, 1.0]], [[1.25, -1.5], [1.75, -2.0]], [[0.25, -0.25], [0.75, 1.5]]]]  # fmt: skip
        scales, zeros = torch.tensor([0.125, 0.25]), torch.tensor([0, 0])
        weight = torch.quantize_per_channel(torch.tensor(w), scales, zeros, 0, torch.qint8)
        # Whole steps of the sums: 100 and -200.
        bias = torch.tensor([100 * 0.0078125, -200 * 0.015625])
        self.packed = Q.conv2d_prepack(weight, bias, [2, 2], [0, 0], [1, 1], 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = torch.nn.functional.pad(torch.quantize_per_tensor(x, 0.0625, 128, torch.quint8), (0, 1, 0, 1))
        return Q.conv2d(q, self.packed, 0.3, 121).int_repr()


def main() -> None:
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "fbgemm"
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, x = Net().eval(), torch.randn(2, 3, 6, 8)
    torch.ao.quantization.fuse_modules(net, [["conv.0", "conv.1"]], inplace=True)
    net.qconfig = get_default_qconfig("fbgemm")
    net = prepare(net)
    net(x)
    net = convert(net)
    torch.jit.trace(net, x).save(str(FOLDER / "quantized.pt"))
    torch.jit.freeze(torch.jit.script(net)).save(str(FOLDER / "frozen.pt"))
    dense = quantize_dynamic(nn.Sequential(nn.Linear(8, 5), nn.ReLU(), nn.Linear(5, 2)).eval(), {nn.Linear})
    torch.jit.trace(dense, x).save(str(FOLDER / "dynamic.pt"))
    torch.jit.trace(Convolution(), torch.randn(1, 3, 8, 8)).save(str(FOLDER.parent / "quantized_forms" / "torch.pt"))
    with torch.no_grad():
        results = {"quantized": net(x), "frozen": net(x), "dynamic": dense(x)}
    data = {"x": x.flatten().tolist(), **{k: v.flatten().tolist() for k, v in results.items()}}
    (FOLDER / "quantized.json").write_text(json.dumps(data) + "\n")


if __name__ == "__main__":
    main()
