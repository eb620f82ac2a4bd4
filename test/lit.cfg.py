# Configuration of lit: `lit test` from the root of the checkout.
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

from lamina_format import LaminaFormat  # noqa: E402

config.name = "lamina"
config.test_format = LaminaFormat()
config.suffixes = [".mlir"]
config.excludes = ["unit", "inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(os.path.dirname(config.test_source_root), "build", "lit")

# The tools of the environment that runs lit come first.
config.environment["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))
for name in ("LAMINA_CACHE_DIR", "LAMINA_HOST", "LAMINA_REPRODUCER_DIR", "PYTHONPATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# What `REQUIRES:` may name: features of the processor, and machines whose code can run here.
from lamina.backends.cpu.machines import FIGURES, LEVELS, PROCESSORS, SHIPPED, host, named, obstacle  # noqa: E402

# What was measured here would stand in the texts of all targets.
config.environment[FIGURES] = os.environ.get(FIGURES, SHIPPED)

config.available_features = {f[1:] for f in host().feature_list() if f[0] == "+"}
config.available_features |= {name for name in (*LEVELS, *PROCESSORS) if not obstacle(named(name))}

# Loaded before lit forks its workers, so that each test finds it warm.
import lamina.opt_tool.command  # noqa: E402, F401
