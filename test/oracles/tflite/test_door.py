"""Ways in: shapes of one's own, names, the commands, TVM's function, and what is refused by name."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

import tflite  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from litert import draw, expected, same  # noqa: E402
from tflite_build import Graph, Op, T, build, one  # noqa: E402

import lamina  # noqa: E402
from lamina.cli import command as cli  # noqa: E402
from lamina.compat.tvm import relay  # noqa: E402
from lamina.errors import InputError, UnsupportedError, UsageError  # noqa: E402
from lamina.opt_tool.command import run_opt_tool  # noqa: E402


def network() -> bytes:
    """A convolution and its activation, by names."""
    x, w = T((1, 6, 6, 2), name="image"), T.of(draw((4, 3, 3, 2), seed=1), name="kernel")
    c, y = T((1, 6, 6, 4), name="conv"), T((1, 6, 6, 4), name="scores")
    window = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    bias = T.of(draw((4,), seed=2), name="bias")
    return build(Graph([x], [y], [Op("CONV_2D", [x, w, bias], [c], window), Op("LOGISTIC", [c], [y])]))


def test_commands(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(network())
    out = io.StringIO()
    assert cli.run(["check", str(path)], out, io.StringIO()) == 0 and "all 2 nodes are supported" in out.getvalue()
    x = draw((1, 6, 6, 2))
    np.save(tmp_path / "x.npy", x)
    given, wanted = f"image=@{tmp_path / 'x.npy'}", tmp_path / "y.npz"
    assert cli.run(["run", str(path), "--input", given, "--output", str(wanted)], out, io.StringIO()) == 0
    same([np.load(wanted)["scores"]], expected(network(), [x]))
    status, text, _ = run_opt_tool([str(path)])
    assert status == 0 and "relay.nn.conv2d" in text and 'lamina.name = "image"' in text


def test_places_are_tensors() -> None:
    places = [str(op.location) for op in lamina.load(network()).module.walk() if op.name == "relay.sigmoid"]
    assert len(places) == 1 and '"scores"' in places[0]


def test_shapes_of_ones_own() -> None:
    model = lamina.load(network(), shapes={"image": [3, 8, 7, 2]})
    assert model.inputs[0].shape == (3, 8, 7, 2) and model.outputs[0].shape == (3, 8, 7, 4)
    x = T((1, 4), signature=(-1, 4), name="x")
    data = one("RELU", [x], [T((1, 4), signature=(-1, 4))])
    assert lamina.load(data).inputs[0].shape == (1, 4)
    assert lamina.load(data, shapes={"x": [5, 4]}).outputs[0].shape == (5, 4)
    with pytest.raises(UsageError, match=r"has the shape \[\?, 4\], \[5, 3\] is given"):
        lamina.load(data, shapes={"x": [5, 3]})


def _model(data: bytes) -> Any:
    kind: Any = tflite.Model
    return kind.GetRootAs(data, 0)


def test_from_tflite_has_tvm_s_form() -> None:
    data = network()
    given = {"shape_dict": {"image": (1, 6, 6, 2)}, "dtype_dict": {"image": "float32"}}
    mod, params = relay.frontend.from_tflite(_model(data), **given)
    assert sorted(params) == ["bias", "kernel"]
    assert [v.name_hint for v in mod["main"].params] == ["image", "kernel", "bias"]
    with pytest.raises(InputError, match="input 'image' is float32, not int8"):
        relay.frontend.from_tflite(data, dtype_dict={"image": "int8"})


def refused() -> dict[str, tuple[bytes, str]]:
    x, y = T((1, 4)), T((1, 4))
    whole: dict[str, Any] = {"stride_h": 1, "stride_w": 1, "filter_width": 1, "filter_height": 1}
    text = T((1,), "string")
    made: dict[str, tuple[bytes, str]] = {
        "custom": (one("custom Mystery", [x], [y]), "custom Mystery x1"),
        "strings": (one("HASHTABLE_LOOKUP", [text, x], [y]), "tensors of string are not supported"),
        "random": (one("RANDOM_UNIFORM", [T.of(np.array([2], np.int32))], [y]), "RANDOM_UNIFORM x1"),
        "shape": (one("RESHAPE", [x, T((2,), "int32")], [y]), "the shape is computed at run time"),
        "activation": (one("MAX_POOL_2D", [T((1, 4, 4, 1))], [T((1, 4, 4, 1))], fused_activation_function="SIGN_BIT",
                           **whole), "the fused activation function SIGN_BIT is not supported"),
    }  # fmt: skip
    return made


@pytest.mark.parametrize("name", refused())
def test_what_is_not_supported_is_named(name: str) -> None:
    data, said = refused()[name]
    with pytest.raises(UnsupportedError) as caught:
        lamina.load(data)
    assert said in str(caught.value) and caught.value.exit_status == 3


def test_weights_are_views_of_the_file() -> None:
    from lamina.frontends.tflite.reader import read_model

    weights: Any = read_model(network(), 1 << 30).subgraphs[0].weights
    assert sorted(weights) == ["bias", "kernel"] and not any(a.flags.owndata for a in weights.values())
    assert not any(a.flags.writeable for a in weights.values())


def test_constants_of_four_bits() -> None:
    from lamina.frontends.tflite.reader import read_model

    numbers = np.array([[-8, 7, 3], [0, -1, 5]])
    data = one("DEQUANTIZE", [T.of(numbers, "int4", scale=0.5)], [T((2, 3))])
    (array,) = read_model(data, 1 << 30).subgraphs[0].weights.values()
    np.testing.assert_array_equal(array, numbers)


def test_a_model_that_says_location_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "net.tflite"
    path.write_bytes(one("RELU", [T((1, 4), name="location")], [T((1, 4))]))
    assert not lamina.compile(path).cached
    assert lamina.compile(path).cached
