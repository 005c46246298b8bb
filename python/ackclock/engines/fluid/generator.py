"""An entry of the registries of networks and traffic."""

from __future__ import annotations

import pkgutil
from typing import Any, NamedTuple

__all__ = ["Generator"]


class Generator(NamedTuple):
    """A generator in a registry.

    Parameters
    ----------
    form
        The class of the table, without ``kind``; its docstring is the title.
    home
        ``module:function``. A network's function takes the parameters (a dict of that
        form) and gives a `Graph`; that of traffic takes the parameters, the `Graph` and a seed
        and gives a `Traffic`.
    is_random
        Whether the seed counts.
    names_files
        Whether parameters name files; a function then finds the scenario file's folder under the
        parameter ``_folder``.
    nests
        Whether parameters hold a network and its traffic, under ``net``, ``traffic`` and ``seed``;
        a function then finds what makes them of the parameters under ``_make``.
    """

    form: type
    home: str
    is_random: bool = False
    names_files: bool = False
    nests: bool = False

    def make(self, *arguments: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *arguments
            What it takes.
        """
        return pkgutil.resolve_name(self.home)(*arguments)
