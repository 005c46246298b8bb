"""The version of the compiled core, which is that of the package."""

from ackclock import _core

__all__ = ["__version__"]

__version__ = _core.version()
