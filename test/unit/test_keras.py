"""Models of Keras without Keras: known by suffix and bytes, described without h5py, computed as Keras computed."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import lamina
from lamina.cli import command as cli
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.frontends.keras.config import layer_of, of_version, snake_case
from lamina.frontends.keras.format import FORMAT
from lamina.frontends.keras.graph import network_of
from lamina.frontends.keras.table import TABLE
from lamina.frontends.keras.variables import in_order_of_training, variables
from lamina.ir.foreign_files import model_format
from lamina.opt_tool.command import run_opt_tool

INPUTS = Path(__file__).parent / "inputs" / "keras"
NET = INPUTS / "net.keras"
needs_h5py = pytest.mark.skipif(importlib.util.find_spec("h5py") is None, reason="needs h5py")


def rezipped(**change: bytes | None) -> bytes:
    """The archive with other members, None for none."""
    made = BytesIO()
    with ZipFile(NET) as old, ZipFile(made, "w") as new:
        for info in old.infolist():
            content = change.get(info.filename.partition(".")[0], old.read(info))
            if content is not None:
                new.writestr(info.filename, content)
    return made.getvalue()


def description() -> Any:
    with ZipFile(NET) as archive:
        return json.loads(archive.read("config.json"))


@needs_h5py
@pytest.mark.parametrize("name", ["net.keras", "net.h5"])
def test_a_model_computes_what_keras_computed(name: str) -> None:
    data = json.loads((INPUTS / "net.json").read_text("utf-8"))
    found = lamina.compile(INPUTS / name, threads=1)(np.asarray(data["x"], np.float32).reshape(1, 6, 6, 2))
    np.testing.assert_allclose(found.reshape(-1), data["y"], rtol=1e-5)


@needs_h5py
def test_the_text_names_inputs_weights_and_layers() -> None:
    status, out, err = run_opt_tool([str(NET), "--print-debuginfo"])
    assert status == 0, err
    assert all(word in out for word in ('lamina.name = "x"', 'lamina.name = "dense"', "%conv_kernel = relay.constant"))
    assert re.search(r'loc\(fused\["conv", .*net.keras', out)


@pytest.mark.parametrize("name", ["m.keras", "m.bin", "m.zip"])
def test_an_archive_is_known_by_its_suffix_or_its_members(tmp_path: Path, name: str) -> None:
    """And its layers are reported without h5py."""
    path = tmp_path / name
    path.write_bytes(NET.read_bytes())
    assert model_format(path) is FORMAT
    out, err = StringIO(), StringIO()
    assert cli.run(["check", str(path)], out, err) == 0, err.getvalue()
    assert "all 6 nodes are supported" in out.getvalue()


@pytest.mark.parametrize("name", ["m.h5", "m.hdf5", "m.bin"])
def test_an_hdf5_file_is_known_by_its_suffix_or_its_bytes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((INPUTS / "net.h5").read_bytes())
    assert model_format(tmp_path / name) is FORMAT


@pytest.mark.parametrize("name", ["net.keras", "net.h5"])
def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(UsageError, match=r"the package h5py, which is missing; pip install 'lamina\[keras\]'"):
        lamina.load(INPUTS / name)


def test_layers_that_are_missing_are_listed_at_once() -> None:
    config = description()
    layers = config["config"]["layers"]
    layers[1]["class_name"], layers[4]["class_name"] = "Lambda", "Wonder"
    report = FORMAT.check(rezipped(config=json.dumps(config).encode()))
    assert str(report.error()).startswith(
        'model: 2 operators are not supported: Lambda x1: "conv" (holds Python code); Wonder x1: "steps" (no converter)'
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "the description of the model is no JSON: JSONDecodeError"),
        (b"[" * 100_000, "the description of the model is no JSON: RecursionError"),
        (b"[]", "is no model of Keras: TypeError: a layer is described by list"),
        (b"{}", "is no model of Keras: KeyError: 'class_name'"),
        (b'{"class_name": "Sequential", "config": {"layers": []}}', "the model was never built"),
        (b'{"class_name": "Mine", "config": {}}', 'is a model of the class "Mine" of its own'),
        (b'{"class_name": "Functional", "config": {}}', 'is a model of the class "Functional" of its own'),
        (None, "has no member 'config.json'"),
    ],
)
def test_a_description_that_is_none_is_refused_in_a_line(content: bytes | None, said: str) -> None:
    with pytest.raises((InputError, UnsupportedError)) as caught:
        FORMAT.check(rezipped(config=content))
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"output_layers": [["nowhere", 0, 0]]}, 'the layer "nowhere" has no call 0'),
        ({"output_layers": [["dense", 3, 0]]}, 'the layer "dense" has no call 3'),
        ({"output_layers": [["dense", 0, 9999]]}, "result 9999 of dense is asked for"),
        ({"output_layers": []}, "the model gives nothing"),
        ({"input_layers": [["conv", 0, 0]]}, "the input conv is a layer of the class Conv2D"),
        ({"layers": "text"}, "the layers are str"),
    ],
)
def test_a_graph_that_is_none_is_refused_in_a_line(edit: dict[str, Any], said: str) -> None:
    config = description()
    config["config"] |= edit
    with pytest.raises(LaminaError) as caught:
        FORMAT.check(rezipped(config=json.dumps(config).encode()))
    assert said in str(caught.value)


def test_a_circle_is_refused() -> None:
    config = description()
    conv = config["config"]["layers"][1]
    conv["inbound_nodes"][0]["args"][0]["config"]["keras_history"] = ["dense", 0, 0]
    with pytest.raises(InputError, match="depends on itself"):
        FORMAT.check(rezipped(config=json.dumps(config).encode()))


def test_weights_stand_in_the_order_of_the_file() -> None:
    """Trained ones before the others, those of frozen layers among the others."""
    norm = {"class_name": "BatchNormalization", "config": {"name": "n", "trainable": True}}
    frozen = {"class_name": "Dense", "config": {"name": "d", "trainable": False, "units": 2}}
    model = layer_of({"class_name": "Sequential", "config": {"name": "s", "layers": [norm, frozen, norm]}})
    assert [v.path for v in in_order_of_training(model)] == [
        f"layers/{where}"
        for where in (
            "batch_normalization/gamma", "batch_normalization/beta", "batch_normalization_1/gamma",
            "batch_normalization_1/beta", "batch_normalization/moving_mean", "batch_normalization/moving_variance",
            "dense/kernel", "dense/bias", "batch_normalization_1/moving_mean", "batch_normalization_1/moving_variance",
        )
    ]  # fmt: skip


def test_every_class_with_weights_has_a_converter_or_stands_in_one() -> None:
    from lamina.frontends.keras.variables import OWN

    inside = {"LSTMCell", "GRUCell", "SimpleRNNCell", "ConvLSTMCell", "SpectralNormalization"}
    assert set(OWN) - inside <= set(TABLE.converters())


def test_models_in_models_are_taken_apart() -> None:
    inner: dict[str, Any] = {"class_name": "Sequential", "config": {"name": "inner", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 4], "name": "i"}},
        {"class_name": "Dense", "config": {"name": "d", "trainable": True, "units": 4}}]},
        "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]], [["inner", 1, 0, {}]]]}  # fmt: skip
    model = layer_of({"class_name": "Functional", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 4], "name": "x"}, "name": "x"}, inner],
        "input_layers": [["x", 0, 0]], "output_layers": [["inner", 2, 0]]}})  # fmt: skip
    network, weights = network_of("m", model)
    assert [(n.op, n.name, n.inputs[0]) for n in network.nodes] == [
        ("Dense", "inner/d", "x"), ("Dense", "inner@1/d", "inner/d"),
    ]  # fmt: skip
    assert weights == {f"inner/d/{n}": f"layers/sequential/layers/dense/{n}" for n in ("kernel", "bias")}
    assert network.nodes[1].inputs[1:] == network.nodes[0].inputs[1:]
    assert [v.path for v, _ in variables(model)] == list(weights.values())


def test_names_of_files_and_functions_of_versions() -> None:
    assert [snake_case(n) for n in ("Conv2DTranspose", "BatchNormalization", "LSTM", "PReLU", "UpSampling2D")] == [
        "conv2d_transpose", "batch_normalization", "lstm", "p_re_lu", "up_sampling2d",
    ]  # fmt: skip
    given = {"layers": [{"activation": "hard_sigmoid", "name": "hard_sigmoid"}]}
    assert of_version(given, "2.9.0")["layers"] == [{"activation": "hard_sigmoid_2", "name": "hard_sigmoid"}]
    assert of_version(given, "3.1.0") == given


@needs_h5py
def test_a_file_on_which_the_hdf5_library_runs_for_ever_is_refused() -> None:
    with pytest.raises(InputError, match="the HDF5 library does not come to an end with it"):
        lamina.load(INPUTS / "endless.h5")
