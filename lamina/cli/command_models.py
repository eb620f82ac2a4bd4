"""The model, its inputs and the way to compile it, as the options of a command say."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.tvmc_options import names_of
from lamina.errors import LaminaError, UsageError

if TYPE_CHECKING:
    from lamina.driver.api import Executable, Model
    from lamina.driver.stage_texts import StageTexts
    from lamina.runtime.exported import ExportedNet
    from lamina.transform import PassContext
    from lamina.tuning.in_situ import Tuned


@contextmanager
def plugins(args: Any) -> Generator[None]:
    """While it lasts the dialects of --load and of installed packages are known; `args.registry` has their passes."""
    if not any(getattr(args, name, None) for name in ("load", "passes", "pipeline")):
        yield
        return
    from pathlib import Path
    from warnings import warn

    from lamina.ir.context import with_dialects
    from lamina.ir.registry import Registry

    args.registry = Registry()
    args.registry.load_universes()
    for problem in args.registry.problems:
        warn(problem, stacklevel=1)
    for path in args.load:
        args.registry.load_file(Path(path))
    with with_dialects(args.registry.dialects):
        yield


def model_of(args: Any, source: Any = None) -> tuple[str | Model, dict[str, Any]]:
    """The model, and the shapes to import it for; one that --state, --desired-layout or --passes change is imported.

    `source` is what takes the place of the file that is given.
    """
    shapes, source = {**shapes_of(args.shape), **args.input_shapes}, args.model if source is None else source
    if not args.passes and args.max_tensor_bytes is None and args.desired_layout is None and not args.state:
        return source, shapes
    from lamina.driver.api import load
    from lamina.ir.pipeline import parse_pipeline
    from lamina.ir.user_code import users_mistake
    from lamina.ir.verification import verify_module
    from lamina.transform import ModuleTransform

    if args.max_tensor_bytes is not None and args.max_tensor_bytes < 1:
        raise UsageError("--max-tensor-bytes must be positive")
    layout = _in_layout(args.desired_layout) if args.desired_layout is not None else None
    model = load(source, shapes, args.max_tensor_bytes, states_of(args.state))
    model = layout(model) if layout is not None else model
    for p in parse_pipeline(args.passes, args.registry) if args.passes else ():
        try:
            model = ModuleTransform(p)(model)
            verify_module(model.module)
        except LaminaError as e:
            e.where = e.where or f"after pass '{p.name}'"
            raise
        except Exception as e:
            mistake = users_mistake(e, f"in pass '{p.name}'")
            if mistake is None:
                raise
            raise mistake from e
    return model, {}


def _in_layout(layout: str) -> Callable[[Model], Model]:
    """A function that gives a model's convolutions a layout of images. Raises UsageError for one that is none."""
    from lamina import transform
    from lamina.passes.relay.layout.convert_layout import images_in

    passes: Any = transform
    wanted = passes.ConvertLayout(desired_layouts=images_in(layout))

    def convert(model: Model) -> Model:
        with transform.PassContext(opt_level=3):
            return transform.Sequential([passes.RemoveUnusedFunctions(), wanted])(model)

    return convert


def model_loaded(args: Any) -> Model:
    """The model, imported."""
    from lamina.driver.api import load

    model, shapes = model_of(args)
    return load(model, shapes) if isinstance(model, str) else model


def compiled(args: Any, err: TextIO) -> Executable:
    """The compiled model, or the program where the file is one already."""
    from lamina.cli.progress import StageProgress
    from lamina.driver import api
    from lamina.ir.suffixes import is_saved
    from lamina.measure.timing import peak_memory

    if is_saved(args.model):
        return _saved(args, err)
    model, shapes = model_of(args)
    with StageProgress(err) as progress:
        exe = api.compile(
            model,
            args.target,
            shapes,
            args.threads,
            context_of(args),
            progress,
            not args.no_cache,
            args.sanitize,
            args.choices,
        )
    if args.time:
        err.write("compiled earlier: the program came from the cache\n" if exe.cached else progress.table() + "\n")
        err.write(f"peak memory {peak_memory() / 1e6:.0f} MB\n")
    return exe


def runnable(args: Any, err: TextIO) -> Executable | ExportedNet:
    """The compiled model, the program of a file, or the net of a shared library."""
    from lamina.ir.suffixes import is_library, is_module

    if not (is_library(args.model) or is_module(args.model)):
        return compiled(args, err)
    from lamina.runtime.exported import ExportedNet

    _refuse_decided(args)
    return ExportedNet(args.model, args.threads)


def _saved(args: Any, err: TextIO) -> Executable:
    """A compiled program from its file."""
    from time import perf_counter

    from lamina.driver import api
    from lamina.measure.timing import peak_memory

    _refuse_decided(args)
    start = perf_counter()
    exe = api.Executable.load(args.model, args.threads)
    if args.time:
        err.write(f"loaded in {perf_counter() - start:.3f} s, peak memory {peak_memory() / 1e6:.0f} MB\n")
    return exe


def _refuse_decided(args: Any) -> None:
    """Raise UsageError where options say how a model is to be compiled that is compiled already."""
    for option in _DECIDED:
        if option in args.given:
            name = f"--{option.replace('_', '-')}"
            raise UsageError(f"{name} is for models; {args.model} is compiled", hint="give it to `lamina compile`")


_DECIDED = (
    "state",
    "target",
    "opt_level",
    "required_pass",
    "disabled_pass",
    "pass_config",
    "shape",
    "input_shapes",
    "desired_layout",
    "max_tensor_bytes",
    "passes",
    "choices",
    "records",
    "no_cache",
    "sanitize",
)
"""Options that say how a model is compiled."""


def context_of(args: Any) -> PassContext:
    """The PassContext that the options of passes and `--records` describe. Raises UsageError for a malformed value."""
    from lamina.transform import OPT_LEVELS, RECORDS, PassContext

    if args.opt_level not in OPT_LEVELS:
        raise UsageError(f"--opt-level is one of {', '.join(map(str, OPT_LEVELS))}, not {args.opt_level}")
    config: dict[str, Any] = {}
    for given in args.pass_config:
        key, equals, value = given.partition("=")
        if not equals:
            raise UsageError(f"--pass-config {given!r} gives no value", hint="as in relay.FuseOps.max_depth=10")
        config[key] = tuple(value.split(","))
    if getattr(args, "records", None) is not None:
        config[f"{RECORDS}.file"] = args.records
    chosen = names_of(args.required_pass), names_of(args.disabled_pass)
    return PassContext(args.opt_level, *chosen, config=config, numerics=args.numerics)


def texts_of(args: Any, path: str | os.PathLike[str] | None = None) -> StageTexts:
    """The texts of a model at every level; `path` is a file that its program is exported to."""
    from lamina.driver.api import texts
    from lamina.driver.c_source import exported_target
    from lamina.driver.settings import Settings

    model, shapes = model_of(args)
    target = args.target if path is None else exported_target(path, args.target, args.threads)
    settings = Settings.of(target, args.threads, context_of(args), sanitize=args.sanitize)
    settings = replace(settings, small=args.small)
    return texts(model, settings, shapes, args.choices)


def shapes_of(given: Sequence[str]) -> dict[str, Any]:
    """`x=1,3,224,224` is a shape, `batch=8` the size of a dimension, `batch=1..64` or `batch=?` its sizes."""
    shapes: dict[str, Any] = {}
    for text in given:
        name, mark, sizes = text.rpartition("=")
        try:
            if not mark or not name:
                raise ValueError
            if ".." in sizes or sizes == "?":
                shapes[name] = range_of_sizes(sizes, text)
                continue
            shapes[name] = int(sizes) if "," not in sizes else [int(s) for s in sizes.strip(",").split(",")]
        except ValueError:
            hint = "give e.g. --shape x=1,3,224,224 (a shape) or --shape batch=8 (a dimension)"
            raise UsageError(f"--shape {text!r} is not NAME=D,D,...", hint=hint) from None
    return shapes


def states_of(given: Sequence[str]) -> dict[str, str]:
    """`past=present`: the output of that name goes to the input in the next run. Raises UsageError."""
    pairs = [text.partition("=") for text in given]
    for text, (name, _, output) in zip(given, pairs, strict=True):
        if not name or not output:
            raise UsageError(f"--state {text!r} is not INPUT=OUTPUT", hint="give e.g. --state past_key=present_key")
    found = {name: output for name, _, output in pairs}
    if len(found) < len(pairs):
        raise UsageError(f"--state: {', '.join(given)} name an input twice")
    return found


def range_of_sizes(sizes: str, whole: str) -> str:
    """The text of a range, once it has been read. Raises UsageError."""
    from lamina.dialects.index.symbol_ranges import parse_range

    parse_range(sizes, whole)
    return sizes


def given_inputs(args: Any, exe: Executable | ExportedNet | Model, err: TextIO) -> Mapping[str, Any]:
    """The arrays that files give; of the rest those that hold state have their initial values, others are filled."""
    from lamina.measure.timing import check_fill_mode, filled_inputs

    check_fill_mode(args.fill_mode)
    ports = exe.inputs
    arrays = arrays_of(args.input, ports[0].name if len(ports) == 1 else None)
    arrays = {**exe.initial_state, **arrays}
    missing = [p for p in ports if p.name not in arrays]
    if missing:
        what = "random values" if args.fill_mode == "random" else args.fill_mode
        err.write(f"note: {what} for {', '.join(p.name for p in missing)} (give --input X.npz for others)\n")
        arrays |= {n: a for n, a in filled_inputs(ports, args.fill_mode).items() if n not in arrays}
    return arrays


def arrays_of(given: Sequence[str], only: str | None = None) -> dict[str, Any]:
    """The arrays of files, `X.npz` or `NAME=@X.npy`; an array without a name is the input `only`."""
    from lamina.ir.array_files import read_arrays

    found: dict[str, Any] = {}
    for text in given:
        name, mark, path = text.partition("=@")
        loaded = read_arrays(path if mark else text)
        if isinstance(loaded, dict):
            if mark:
                raise UsageError(f"{path} names its arrays: {', '.join(loaded) or 'none'}", hint=f"give --input {path}")
            found |= loaded
        elif mark or only is not None:
            found[name if mark else str(only)] = loaded
        else:
            raise UsageError(f"which input is {text}?", hint=f"give it as NAME=@{text}")
    return found


def timed_candidates(args: Any, model: Model, err: TextIO) -> Tuned:
    """The candidates of each choice of a model's schedules, timed in it."""
    from lamina.cli.progress import StageProgress
    from lamina.tuning.in_situ import choose_in_situ

    inputs = given_inputs(args, model, err)
    with StageProgress(err) as progress:
        how = args.threads, context_of(args), inputs, args.rounds, progress, not args.no_cache
        found = choose_in_situ(model, args.target, None, *how)
    if args.time:
        err.write(progress.table() + "\n")
    return found
