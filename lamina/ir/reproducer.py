"""Reproducers: after an internal fault, one file that shows it again with `opt-tool --run-reproducer FILE`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from lamina.errors import InputError

MARK = "// lamina-reproducer: "
FOLDER = "lamina-reproducers"
"""In the current directory; git ignores what it holds, as it says itself."""


def write(ir: str, passes: str, options: Sequence[str], error: str, source: Path | None) -> Path | None:
    """Write a reproducer into $LAMINA_REPRODUCER_DIR or ./lamina-reproducers; None when that cannot be."""
    from hashlib import sha256

    config = json.dumps({"passes": passes, "options": list(options), "source": str(source) if source else None})
    summary = " ".join(error.split())
    text = f"// {summary}\n// Run: opt-tool --run-reproducer <this file>\n{MARK}{config}\n{ir}\n"
    given = os.environ.get("LAMINA_REPRODUCER_DIR")
    folder = Path(given or FOLDER)
    path = folder / f"lamina-reproducer-{sha256(text.encode()).hexdigest()[:12]}.mlir"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not given:
            (folder / ".gitignore").write_text("*\n", "utf-8")
        path.write_text(text, "utf-8")
    except OSError:
        return None
    return path


def read(text: str, file: str) -> tuple[list[str], Path | None]:
    """The command-line options in a reproducer, and the file that it came from. Raises InputError."""
    for row in text.split("\n"):
        if row.startswith(MARK):
            try:
                config = json.loads(row[len(MARK) :])
                passes, options = str(config["passes"]), [str(o) for o in config["options"]]
                source = Path(config["source"]) if config["source"] else None
            except (ValueError, KeyError, TypeError) as e:
                raise InputError("the reproducer line is damaged", where=file) from e
            return [*options, "-p", passes], source
        if row and not row.startswith("//"):
            break
    raise InputError(f"not a reproducer: no line '{MARK.strip()}'", where=file)
