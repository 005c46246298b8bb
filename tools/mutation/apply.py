"""Writes mutants of Python modules, in an environment that has Cosmic Ray; see `python.py`.

Reads a JSON list of path, operator, its arguments and which of the places that it changes; writes a
list of the modules' texts with these changes, null where there is none.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found]
from cosmic_ray.plugins import get_operator  # type: ignore[import-not-found]

made = []
for path, name, arguments, occurrence in json.load(sys.stdin):
    text = Path(path).read_bytes().decode()
    made.append(mutate_code(text, get_operator(name)(**arguments), occurrence))
json.dump(made, sys.stdout)
