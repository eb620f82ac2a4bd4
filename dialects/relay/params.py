"""Weights: an attribute that names them, and the store that holds their bytes.

A weight is never text. `#relay.param<"layer1.conv.weight", "9f86d081884c7d65">` is its key and the head of the
SHA-256 of its bytes; the bytes live in a `ParamStore`, memory-mapped from a safetensors file beside the module.

A *derived* parameter is the value of an expression of others (a folded scale, a packed layout). Its digest is that
of the recipe and of the inputs' digests, so it is known, and can be printed, compared and used as a cache key,
before anyone computes the bytes; they are computed when first asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, StringAttr, TensorType
from xdsl.ir import Attribute, OpResult, ParametrizedAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from lamina.dialects.dtypes import dtype_name, itemsize, numpy_dtype, tensor_type
from lamina.dialects.lazy import np
from lamina.errors import InputError, InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

DIGEST_LENGTH = 16
INLINE_BYTES = 1024


@irdl_attr_definition
class ParamAttr(ParametrizedAttribute):
    """`#relay.param<"key", "digest">`: a weight, by its name and the digest of its bytes."""

    name = "relay.param"
    key: StringAttr = param_def()
    digest: StringAttr = param_def()

    @staticmethod
    def of(key: str, digest: str) -> ParamAttr:
        return ParamAttr(StringAttr(key), StringAttr(digest))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            key = parser.parse_str_literal(" for the key of a parameter")
            digest = parser.parse_str_literal() if parser.parse_optional_punctuation(",") else ""
        return (StringAttr(key), StringAttr(digest))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.key.data)
            if self.digest.data:
                printer.print_string(", ")
                printer.print_string_literal(self.digest.data)


ConstantAttr: TypeAlias = "ParamAttr | DenseIntOrFPElementsAttr"


def dense_array(attr: DenseIntOrFPElementsAttr[Any]) -> Array:
    """The values of a dense attribute, without a copy (booleans are stored as 0 and 255)."""
    dtype = dtype_name(attr.get_element_type())
    shape = attr.get_shape()
    if dtype == "bool":
        return (np.frombuffer(attr.data.data, np.uint8) != 0).reshape(shape)
    return np.frombuffer(attr.data.data, numpy_dtype(dtype)).reshape(shape)


def array_dense(array: Array) -> DenseIntOrFPElementsAttr[Any]:
    """An array as a dense attribute of its tensor type."""
    array = np.asarray(array)
    type_: TensorType[Any] = tensor_type(array.shape, str(array.dtype))
    raw = array.astype(np.uint8) * np.uint8(255) if array.dtype == np.bool_ else array
    return DenseIntOrFPElementsAttr(type_, BytesAttr(np.ascontiguousarray(raw).tobytes()))


def _digest(*parts: Any) -> str:
    hasher = sha256()
    for part in parts:
        hasher.update(part)
    return hasher.hexdigest()[:DIGEST_LENGTH]


def array_digest(array: Array) -> str:
    """The digest of an array's type and bytes."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return _digest(f"{array.dtype}{list(array.shape)}:".encode(), flat.data)


def input_digest(attr: ConstantAttr) -> str:
    """The digest that identifies a constant's value, whichever attribute holds it."""
    if isinstance(attr, ParamAttr):
        return attr.digest.data
    return _digest(str(attr.type).encode(), attr.data.data)


@dataclass(frozen=True)
class Derivation:
    """The inputs, type and function by which a derived parameter is computed; how the op is made that computes it too,
    of values that stand for the inputs, where a kernel of that gives the same bits."""

    inputs: tuple[ConstantAttr, ...]
    type: TensorType[Any]
    thunk: Callable[..., Array]
    remake: Callable[[Sequence[SSAValue]], OpResult] | None


@dataclass(frozen=True)
class _FileEntry:
    """A tensor in a mapped safetensors file; `digest` is None where the file does not state it."""

    path: Path
    data: Array
    dtype: str
    shape: tuple[int, ...]
    digest: str | None

    def array(self) -> Array:
        return self.data.view(numpy_dtype(self.dtype)).reshape(self.shape)


class ParamStore:
    """The bytes of the parameters of a module: given, mapped from a file, or derived from others when asked for."""

    def __init__(self) -> None:
        self._arrays: dict[ParamAttr, Array] = {}
        self._derived: dict[ParamAttr, Derivation] = {}
        self._files: dict[str, _FileEntry] = {}

    def add(self, key: str, array: Array, digest: str | None = None) -> ParamAttr:
        """Keep an array under a key. Equal arrays under one key are one parameter.

        `digest` is what `array_digest` says of it, where that is known.
        """
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        dtype_name(tensor_type(array.shape, str(array.dtype)).element_type)  # refuses dtypes that Lamina lacks
        attr = ParamAttr.of(key, digest or array_digest(array))
        self._arrays.setdefault(attr, array)
        return attr

    def hold(self, attr: ParamAttr, array: Array) -> None:
        """Keep the array of a parameter that has its name already: what a saved program brings."""
        self._arrays[attr] = array

    def derive(
        self,
        inputs: Sequence[ConstantAttr],
        recipe: str,
        type: TensorType[Any],
        thunk: Callable[..., Array],
        key: str | None = None,
        remake: Callable[[Sequence[SSAValue]], OpResult] | None = None,
    ) -> ParamAttr:
        """A parameter computed from others when first asked for: `thunk(*arrays of inputs)`.

        The recipe must state everything that decides the value apart from the inputs: it is hashed instead of it.
        `remake` makes the op that computes the same bits, where there is one.
        """
        digest = _digest("\0".join([recipe, str(type), *map(input_digest, inputs)]).encode())
        attr = ParamAttr.of(key or _derived_key(inputs, recipe), digest)
        self._derived.setdefault(attr, Derivation(tuple(inputs), type, thunk, remake))
        return attr

    def __contains__(self, attr: ParamAttr) -> bool:
        return attr in self._arrays or attr in self._derived or self._file_entry(attr) is not None

    def is_derived(self, attr: ParamAttr) -> bool:
        """Whether the bytes are still to be computed."""
        return attr in self._derived and attr not in self._arrays

    def derivation(self, attr: ConstantAttr) -> Derivation | None:
        """The way in which a parameter is derived; None where its bytes are given."""
        return self._derived.get(attr) if isinstance(attr, ParamAttr) else None

    def get(self, attr: ConstantAttr) -> Array:
        """The value of a constant; derived ones are computed and kept. Raises InputError for an unknown parameter."""
        if not isinstance(attr, ParamAttr):
            return dense_array(attr)
        found = self._arrays.get(attr)
        if found is None:
            found = self._compute(attr)
            if attr in self._derived:
                self._arrays[attr] = found
        return found

    def release(self, attr: ParamAttr) -> None:
        """Forget the bytes in memory: a derived parameter is computed again when it is next asked for."""
        self._arrays.pop(attr, None)

    def open(self, path: str | os.PathLike[str]) -> None:
        """Map a safetensors file: its tensors are parameters by their names. Nothing is read yet."""
        self._files.update(_open_safetensors(Path(path)))

    def keys(self) -> list[str]:
        """Names of the tensors in the opened files."""
        return list(self._files)

    def attr(self, key: str) -> ParamAttr:
        """The parameter that an opened file holds under a name. Raises InputError when there is none."""
        entry = self._files.get(key)
        if entry is None:
            raise InputError(f"no parameter {key!r} in the weights file")
        return ParamAttr.of(_plain_key(key), entry.digest or array_digest(entry.array()))

    def save(self, path: str | os.PathLike[str], attrs: Iterable[ParamAttr]) -> None:
        """Write parameters as safetensors, the same bytes for the same parameters; derived ones are computed."""
        wanted = sorted(set(attrs), key=lambda a: (a.key.data, a.digest.data))
        count: dict[str, int] = {}
        for a in wanted:
            count[a.key.data] = count.get(a.key.data, 0) + 1
        names = {a: a.key.data if count[a.key.data] == 1 else f"{a.key.data}#{a.digest.data}" for a in wanted}
        _save_safetensors(Path(path), [(names[a], a.digest.data, self.type_of(a)) for a in wanted], self, wanted)

    def type_of(self, attr: ParamAttr) -> TensorType[Any]:
        """The tensor type of a parameter, without computing it."""
        derived = self._derived.get(attr)
        if derived is not None:
            return derived.type
        array = self.get(attr)
        return tensor_type(array.shape, str(array.dtype))

    # -- inside ------------------------------------------------------------------------------------

    def _file_entry(self, attr: ParamAttr) -> _FileEntry | None:
        key, digest = attr.key.data, attr.digest.data
        return self._files.get(f"{key}#{digest}") or self._files.get(key)

    def _compute(self, root: ParamAttr) -> Array:
        """Evaluate a parameter and what it is derived from; a stack, since chains of derivations are long."""
        values: dict[ConstantAttr, Array] = {}
        stack: list[ConstantAttr] = [root]
        while stack:
            attr = stack[-1]
            if attr in values:
                stack.pop()
                continue
            derived = self._derived.get(attr) if isinstance(attr, ParamAttr) and attr not in self._arrays else None
            if derived is None:
                values[attr] = self._given(attr)
                stack.pop()
                continue
            waiting = [i for i in derived.inputs if i not in values]
            if waiting:
                stack.extend(waiting)
                continue
            array = np.asarray(derived.thunk(*(values[i] for i in derived.inputs)))
            shape, dtype = derived.type.get_shape(), dtype_name(derived.type.element_type)
            if array.shape != shape or str(array.dtype) != dtype:
                raise InternalError(f"parameter {attr} is {array.dtype}{list(array.shape)}, expected {derived.type}")
            if attr is root and not array.flags.c_contiguous:
                from lamina.dialects.aligned_arrays import aligned

                # Copied once, to where a program can leave it.
                values[attr] = aligned(array)
            else:
                values[attr] = np.ascontiguousarray(array).reshape(shape)
            stack.pop()
        return values[root]

    def _given(self, attr: ConstantAttr) -> Array:
        if not isinstance(attr, ParamAttr):
            return dense_array(attr)
        found = self._arrays.get(attr)
        if found is not None:
            return found
        entry = self._file_entry(attr)
        if entry is None:
            raise InputError(
                f"no value for the parameter {attr.key.data!r}",
                hint="give the weights file that belongs to the module (module attribute lamina.params)",
            )
        array = entry.array()
        wanted = attr.digest.data
        if wanted and (entry.digest or array_digest(array)) != wanted:
            raise InputError(
                f"the parameter {attr.key.data!r} has other bytes than the module expects",
                where=str(entry.path),
                hint="the weights file belongs to another module",
            )
        self._arrays[attr] = array
        return array


def store_of(ctx: object) -> ParamStore:
    """The store of a compile context; an empty one for a context without."""
    found: object = getattr(ctx, "params", None)
    return found if isinstance(found, ParamStore) else ParamStore()


def _derived_key(inputs: Sequence[ConstantAttr], recipe: str) -> str:
    """`w/multiply/layout_transform`: the first parameter and what was done to it, shortened when long."""
    root = next((i.key.data for i in inputs if isinstance(i, ParamAttr)), "constant")
    verb = recipe.split("(")[0].split(" ")[0].rsplit(".", 1)[-1]
    parts = f"{root}/{verb}".split("/")
    return "/".join(parts if len(parts) <= 8 else [*parts[:4], "...", *parts[-3:]])


def _plain_key(name: str) -> str:
    head, mark, tail = name.rpartition("#")
    is_digest = len(tail) == DIGEST_LENGTH and not set(tail) - set("0123456789abcdef")
    return head if mark and is_digest else name


# -- safetensors -----------------------------------------------------------------------------------
# Read and written here: the library's writer orders its metadata at random, and mapping needs no library.

_TO_SAFETENSORS = {
    "bool": "BOOL",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    **{f"int{n}": f"I{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"U{n}" for n in (8, 16, 32, 64)},
}
_FROM_SAFETENSORS = {v: k for k, v in _TO_SAFETENSORS.items()}


def _open_safetensors(path: Path) -> dict[str, _FileEntry]:
    try:
        size = path.stat().st_size
        if size < 8:
            raise InputError("not a safetensors file: shorter than its header", where=str(path))
        data: Array = np.memmap(path, np.uint8, "r")
    except OSError as e:
        raise InputError(f"cannot read the weights: {e.strerror or e}", where=str(path)) from None
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > size - 8:
        raise InputError("damaged weights file: its header is longer than the file", where=str(path))
    try:
        header: dict[str, Any] = json.loads(data[8 : 8 + length].tobytes())
        digests: dict[str, str] = header.pop("__metadata__", {})
        body = data[8 + length :]
        return {name: _file_entry(path, body, entry, digests.get(f"digest:{name}")) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise InputError(f"damaged weights file: {e}", where=str(path)) from None


def _file_entry(path: Path, body: Array, entry: dict[str, Any], digest: str | None) -> _FileEntry:
    dtype = _FROM_SAFETENSORS.get(entry["dtype"])
    if dtype is None:
        raise ValueError(f"element type {entry['dtype']} is not supported")
    shape = tuple(int(e) for e in entry["shape"])
    begin, end = (int(o) for o in entry["data_offsets"])
    if not 0 <= begin <= end <= body.size or end - begin != prod(shape) * itemsize(dtype):
        raise ValueError(f"a tensor of shape {list(shape)} does not fit its bytes {begin}..{end}")
    return _FileEntry(path, body[begin:end], dtype, shape, digest)


def _save_safetensors(
    path: Path, entries: list[tuple[str, str, TensorType[Any]]], store: ParamStore, attrs: list[ParamAttr]
) -> None:
    described = [(name, digest, dtype_name(t.element_type), t.get_shape()) for name, digest, t in entries]
    # Wide elements first, so that every tensor stays aligned to its element.
    order = sorted(range(len(described)), key=lambda i: (-itemsize(described[i][2]), described[i][0]))
    header: dict[str, Any] = {"__metadata__": {f"digest:{described[i][0]}": described[i][1] for i in order}}
    offset = 0
    for i in order:
        name, _, dtype, shape = described[i]
        end = offset + prod(shape) * itemsize(dtype)
        header[name] = {"dtype": _TO_SAFETENSORS[dtype], "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % 64)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for i in order:
                held = not store.is_derived(attrs[i])
                array = np.ascontiguousarray(store.get(attrs[i]))
                file.write(array.reshape(-1).view(np.uint8).data)
                if not held:
                    store.release(attrs[i])
        os.replace(temporary, path)
    except OSError as e:
        raise InputError(f"cannot write the weights: {e.strerror or e}", where=str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)
