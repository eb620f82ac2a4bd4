"""Damaged and hostile files: read, or refused in one line, fast and in little memory. No file may end the process."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import io
import json
import random
import resource
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamina.cli import command as cli

keras = pytest.importorskip("keras")
pytest.importorskip("jax", reason="Keras computes with it")
h5py = pytest.importorskip("h5py")

from keras import layers as L  # noqa: E402

MOST_SECONDS = 5.0
"""Two for what Lamina does, and those of the process that looks at an HDF5 file first."""
MOST_BYTES = 1 << 30


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A model of several layers in both formats."""
    folder = tmp_path_factory.mktemp("models")
    x = keras.Input((8, 8, 3), name="x")
    y = L.Conv2D(4, 3, activation="relu")(x)
    y = L.BatchNormalization()(y)
    y = L.Reshape((36, 4))(y * 2.0)
    y = L.Bidirectional(L.LSTM(3))(y[:, :5])
    inner = keras.Sequential([keras.Input((6,)), L.Dense(4)], name="inner")
    model = keras.Model(x, L.Dense(2)(inner(y)))
    found: dict[str, bytes] = {}
    for suffix in (".keras", ".h5"):
        model.save(folder / f"m{suffix}")
        found[suffix] = (folder / f"m{suffix}").read_bytes()
    return found


def judge(path: Path) -> int:
    """The status of reading a file, which must come fast and with one line at most."""
    before, peak = time.monotonic(), most_memory()
    out, err = io.StringIO(), io.StringIO()
    status = cli.run(["compile", str(path), "--emit", "relay", "-o", str(path.with_suffix(".mlir"))], out, err)
    assert time.monotonic() - before < MOST_SECONDS
    text = err.getvalue()
    assert status in (0, 1, 3), (status, text)
    assert "Traceback" not in text and text.count("\n") <= 1, text
    assert status == 0 or text.startswith("error: ")
    assert most_memory() < MOST_BYTES + peak
    return status


def most_memory() -> int:
    """The most bytes that this process has had, in tests that ran before as well."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rezipped(data: bytes, change: dict[str, Any], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive with other members; None leaves one out."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", method) as new:
        for info in old.infolist():
            content = change.get(info.filename, old.read(info))
            if content is not None:
                new.writestr(info.filename, content)
    return made.getvalue()


def described(data: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        return json.loads(old.read("config.json"))


def with_config(edit: Callable[[Any], Any]) -> Callable[[dict[str, bytes]], bytes]:
    """The archive with a description that was edited."""

    def make(files: dict[str, bytes]) -> bytes:
        config = described(files[".keras"])
        changed = edit(config)
        text = json.dumps(config if changed is None else changed)
        return rezipped(files[".keras"], {"config.json": text})

    return make


def weights_of(files: dict[str, bytes], edit: Callable[[Any], None]) -> bytes:
    """The archive with weights that were edited."""
    with zipfile.ZipFile(io.BytesIO(files[".keras"])) as old:
        held = io.BytesIO(old.read("model.weights.h5"))
    with h5py.File(held, "r+") as file:
        edit(file)
    return rezipped(files[".keras"], {"model.weights.h5": held.getvalue()})


def layer(config: Any, name: str) -> Any:
    return next(given for given in config["config"]["layers"] if given["class_name"] == name)


def edited(name: str, **changes: Any) -> Callable[[dict[str, bytes]], bytes]:
    """The archive with other options of a layer."""

    def edit(config: Any) -> None:
        layer(config, name)["config"].update(changes)

    return with_config(edit)


def called(name: str, nodes: Any) -> Callable[[dict[str, bytes]], bytes]:
    """The archive with other calls of a layer."""

    def edit(config: Any) -> None:
        layer(config, name)["inbound_nodes"] = nodes

    return with_config(edit)


def tensor(name: str, call: Any = 0, index: Any = 0) -> Any:
    return {"class_name": "__keras_tensor__", "config": {"shape": [1], "dtype": "float32",
                                                         "keras_history": [name, call, index]}}  # fmt: skip


def on(*tensors: Any) -> Any:
    return [{"args": list(tensors), "kwargs": {}}]


def replaced_weight(make: Callable[[Any], Any]) -> Callable[[dict[str, bytes]], bytes]:
    """The archive with something else in the place of a kernel."""

    def edit(file: Any) -> None:
        group = file["layers/conv2d/vars"]
        del group["0"]
        make(group)

    return lambda files: weights_of(files, edit)


def deep(n: int) -> bytes:
    return (b'{"a":' * n) + b"1" + b"}" * n


def nested(n: int) -> Any:
    """Models in models, each of which calls the next one twice."""
    config: Any = {"class_name": "Sequential", "module": "keras", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "module": "keras.layers", "config": {"batch_shape": [None, 3], "name": "i"}},
        {"class_name": "ReLU", "module": "keras.layers", "config": {"name": "r"}}]}}  # fmt: skip
    for k in range(n):
        inner = {**config, "name": "inner", "inbound_nodes": [*on(tensor("i")), *on(tensor("inner", 0, 0))]}
        config = {"class_name": "Functional", "module": "keras", "config": {
            "name": f"m{k}", "input_layers": [["i", 0, 0]], "output_layers": [["inner", 2, 0]], "layers": [
                {"class_name": "InputLayer", "module": "keras.layers", "name": "i", "inbound_nodes": [],
                 "config": {"batch_shape": [None, 3], "name": "i"}}, inner]}}  # fmt: skip
    return config


def bomb(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(files[".keras"])) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("metadata.json", "{}")
        new.writestr("config.json", old.read("config.json"))
        with new.open("model.weights.h5", "w", force_zip64=True) as file:
            file.write(b"\x89HDF\r\n\x1a\n")
            for _ in range(300):
                file.write(bytes(1 << 22))
    return made.getvalue()


def h5_with(edit: Callable[[Any], None]) -> Callable[[dict[str, bytes]], bytes]:
    """The HDF5 file, edited."""

    def make(files: dict[str, bytes]) -> bytes:
        held = io.BytesIO(files[".h5"])
        with h5py.File(held, "r+") as file:
            edit(file)
        return held.getvalue()

    return make


def unlimited(group: Any) -> Any:
    return group.create_dataset("0", (1 << 16, 1 << 14), "f4", chunks=(256, 256), compression="gzip")


REFUSED: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "empty": lambda files: b"",
    "magic alone": lambda files: files[".h5"][:8],
    "half an archive": lambda files: files[".keras"][: len(files[".keras"]) // 2],
    "half a file": lambda files: files[".h5"][: len(files[".h5"]) // 2],
    "no description": lambda files: rezipped(files[".keras"], {"config.json": None}),
    "no weights": lambda files: rezipped(files[".keras"], {"model.weights.h5": None}),
    "weights that are none": lambda files: rezipped(files[".keras"], {"model.weights.h5": b"hello" * 100}),
    "a description that is none": lambda files: rezipped(files[".keras"], {"config.json": b"\xff\xfe{"}),
    "a deep description": lambda files: rezipped(files[".keras"], {"config.json": deep(200_000)}),
    "a list as description": with_config(lambda config: [1, 2]),
    "bomb of weights": bomb,
    "bomb of text": lambda files: rezipped(files[".keras"], {"config.json": b" " * (1 << 27)}, zipfile.ZIP_DEFLATED),
    "no layers": with_config(lambda config: config["config"].update(layers=[])),
    "layers that are text": with_config(lambda config: config["config"].update(layers="abc")),
    "an output that is not there": with_config(lambda c: c["config"].update(output_layers=[["nowhere", 0, 0]])),
    "a call that is not there": with_config(lambda c: c["config"].update(output_layers=[["dense_1", 7, 0]])),
    "a result that is not there": called("BatchNormalization", on(tensor("conv2d", 0, 5))),
    "a huge result": called("BatchNormalization", on(tensor("conv2d", 0, 1 << 40))),
    "a layer of itself": called("Conv2D", on(tensor("conv2d"))),
    "two layers of each other": called("Conv2D", on(tensor("batch_normalization"))),
    "history that is none": called("BatchNormalization", on({"class_name": "__keras_tensor__", "config": {}})),
    "no arguments": called("BatchNormalization", [{"args": [], "kwargs": {}}]),
    "names twice": with_config(lambda config: config["config"]["layers"].append(config["config"]["layers"][0])),
    "models in models": with_config(lambda config: nested(40)),
    "models deep in models": with_config(lambda config: nested(300)),
    "a huge kernel": edited("Conv2D", kernel_size=[1 << 40, 3], strides=[0, 1]),
    "negative strides": edited("Conv2D", strides=[-1, -1]),
    "groups of nothing": edited("Conv2D", padding="everywhere"),
    "units of another layer": edited("Dense", activation={"class_name": "function", "config": "os.system"}),
    "a huge reshape": edited("Reshape", target_shape=[1 << 40, 1 << 40]),
    "a negative reshape": edited("Reshape", target_shape=[-1, -1]),
    "a reshape of text": edited("Reshape", target_shape="ab"),
    "an axis that is not there": edited("BatchNormalization", axis=17),
    "an input of a huge shape": edited("InputLayer", batch_shape=[None, 1 << 40, 1 << 40, 3]),
    "an input of a negative shape": edited("InputLayer", batch_shape=[None, -5, 8, 3]),
    "an input of no type": edited("InputLayer", dtype="elephant"),
    "an input without a shape": edited("InputLayer", batch_shape=None),
    "a type that is none": edited("Conv2D", dtype="elephant"),
    "a weight of a huge shape": replaced_weight(unlimited),
    "a weight of text": replaced_weight(lambda g: g.create_dataset("0", data=b"text")),
    "a weight of another shape": replaced_weight(lambda g: g.create_dataset("0", data=np.zeros((3, 3, 9, 4), "f4"))),
    "a weight of objects": replaced_weight(lambda g: g.create_dataset("0", data=[g.ref], dtype=h5py.ref_dtype)),
    "a group for a weight": replaced_weight(lambda g: g.create_group("0")),
    "a soft link": replaced_weight(lambda g: g.__setitem__("0", h5py.SoftLink("/layers/conv2d/vars/1"))),
    "a link to a file": replaced_weight(lambda g: g.__setitem__("0", h5py.ExternalLink("/etc/passwd", "/"))),
    "a weight in a file": replaced_weight(
        lambda g: g.create_dataset("0", (3, 3, 3, 4), "u1", external=[("/etc/passwd", 0, 108)])),
    "a description of numbers": h5_with(lambda f: f.attrs.__setitem__("model_config", 7)),
    "no groups of weights": h5_with(lambda f: f.__delitem__("model_weights")),
    "names of weights that are not there": h5_with(
        lambda f: f["model_weights/conv2d"].attrs.__setitem__("weight_names", [b"../a", b"b"])),
    "weights out of order": h5_with(lambda f: f["model_weights/conv2d"].attrs.__setitem__("weight_names", [b"a"])),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_in_one_line(tmp_path: Path, files: dict[str, bytes], name: str) -> None:
    data = REFUSED[name](files)
    path = tmp_path / ("m.h5" if data[:4] == b"\x89HDF" else "m.keras")
    path.write_bytes(data)
    assert judge(path) in (1, 3)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut out, or written twice."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 2, 8, 64))):
        at = rng.randrange(len(found))
        kind = rng.random()
        if kind < 0.7:
            found[at] = rng.choice((0, 0xFF, found[at] ^ (1 << rng.randrange(8)), rng.randrange(256)))
        elif kind < 0.85:
            del found[at : at + rng.choice((1, 4, 64))]
        else:
            found[at:at] = found[at : at + rng.choice((1, 8, 256))]
    return bytes(found)


@pytest.mark.parametrize("block", range(10))
def test_mutations_are_read_or_refused(tmp_path: Path, files: dict[str, bytes], block: int) -> None:
    """Of the whole file, of the description, and of what is no weight in the HDF5 file."""
    for seed in range(block * 30, block * 30 + 30):
        rng = random.Random(seed)
        kind = seed % 4
        if kind == 0:
            data, suffix = mutated(files[".keras"], rng), ".keras"
        elif kind == 1:
            text = json.dumps(described(files[".keras"])).encode()
            data, suffix = rezipped(files[".keras"], {"config.json": mutated(text, rng)}), ".keras"
        elif kind == 2:
            with zipfile.ZipFile(io.BytesIO(files[".keras"])) as old:
                weights = old.read("model.weights.h5")
            data, suffix = rezipped(files[".keras"], {"model.weights.h5": mutated(weights, rng)}), ".keras"
        else:
            data, suffix = mutated(files[".h5"], rng), ".h5"
        path = tmp_path / f"m{seed}{suffix}"
        path.write_bytes(data)
        judge(path)
