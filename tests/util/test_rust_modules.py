"""The checks of imports among Rust files find what they are to find, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import rust_modules

ROOMS = ("low", "high")


def write_tree(root: Path, files: dict[str, str]) -> rust_modules.Graph:
    """Write Rust files below ``root`` and return their graph of imports."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return rust_modules.imports(sorted(root.rglob("*.rs")), root)


def test_paths_of_all_forms_lead_to_their_files(tmp_path: Path) -> None:
    """Trees, `super`, inline paths and aliases count; comments and tests do not."""
    main = """
        //! See [`crate::part::high::c`].
        use super::super::low::{a::A as First, b::{self, B}};
        fn f() { crate::other::g(); }
        #[cfg(test)]
        mod tests { use crate::part::high::c::C; }
    """
    files = {
        "part/high/user.rs": main,
        "part/mod.rs": "mod low; pub use low::a::A;",
        "part/low/mod.rs": "",
        "other.rs": "",
    }
    files |= {f"part/{name}.rs": "" for name in ("low/a", "low/b", "high/c", "high/mod")}
    graph = write_tree(tmp_path, files)
    found = {str(path.relative_to(tmp_path)) for path in graph[tmp_path / "part/high/user.rs"]}
    assert found == {"part/low/a.rs", "part/low/b.rs", "other.rs"}
    assert graph[tmp_path / "part/mod.rs"] == {}


@pytest.mark.parametrize("back", ["", "use crate::part::low::a::A;"])
def test_circles_and_imports_of_higher_rooms_are_found(tmp_path: Path, back: str) -> None:
    """Two files that import each other form a circle; the lower one is against the layers."""
    files = {
        "part/low/a.rs": "\nuse crate::part::high::b::B;",
        "part/high/b.rs": back,
    } | {f"{folder}/mod.rs": "" for folder in ("part", "part/low", "part/high")}
    graph = write_tree(tmp_path, files)
    wrong = list(rust_modules.against_layers(graph, tmp_path / "part", ROOMS))
    assert wrong == [(tmp_path / "part/low/a.rs", 2, "low", "high")]
    circle = rust_modules.circle_in(graph)
    assert (circle is not None) == bool(back)
    if circle is not None:
        assert {path.name for path in circle} == {"a.rs", "b.rs"}
        assert circle[0] == circle[-1]
