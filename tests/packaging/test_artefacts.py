"""The other artefacts of `make release`, each used from an empty place; needs the network.

All that compute run one scenario and must have its digest of the wheel.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import tarfile
import urllib.parse
from pathlib import Path

import pytest
import yaml
from empty_environment import ARCHIVES, DIST, ROOT, UV, VERSION, WHEELS, Environment, built, run

from release.metadata import LIBRARIES

EXAMPLE = ROOT / "examples/parking-lot.toml"
PACKAGES = built("npm/ackclock-*.tgz")
CRATES = {name: built(f"crates/{name}-*.crate") for name in LIBRARIES}
SITE = DIST / "site"

pytestmark = pytest.mark.slow


def needs(present, target):
    return pytest.mark.skipif(not present, reason=f"needs what it builds: make {target}")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The digest of the scenario by the wheel, and the scenario as JSON."""
    folder = tmp_path_factory.mktemp("wheel")
    environment = Environment(folder / "venv", str(WHEELS[-1]))
    done = environment.ackclock("run", str(EXAMPLE), "--json", cwd=folder)
    python = str(environment.folder / "bin/python")
    code = f"import ackclock; print(ackclock.load({str(EXAMPLE)!r}).to_json())"
    return json.loads(done.stdout)["digest"], run(python, "-c", code, cwd=folder)


@needs(PACKAGES and WHEELS, "npm wheels")
def test_the_npm_package_runs_a_scenario_with_the_wheels_digest(expected, tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run("npm", "install", "--no-fund", "--no-audit", str(PACKAGES[-1]), cwd=tmp_path)
    (tmp_path / "run.js").write_text(
        "import { readFileSync } from 'node:fs';\n"
        "import { load } from 'ackclock';\n"
        "const core = await load();\n"
        f"const {{ data }} = core.readToml(readFileSync({json.dumps(str(EXAMPLE))}, 'utf8'));\n"
        "const { summary } = core.run(data);\n"
        "console.log(summary.digest, core.describe().version);\n"
    )
    assert run("node", "run.js", cwd=tmp_path).split() == [expected[0], VERSION]
    package = json.loads((tmp_path / "node_modules/ackclock/package.json").read_text())
    assert package["version"] == VERSION
    assert {"LICENSE", "README.md", "index.d.ts"} <= {
        file.name for file in (tmp_path / "node_modules/ackclock").iterdir()
    }


@needs(PACKAGES, "npm")
def test_the_programs_of_the_npm_packages_page_run(tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run("npm", "install", "--no-fund", "--no-audit", str(PACKAGES[-1]), cwd=tmp_path)
    page = (tmp_path / "node_modules/ackclock/README.md").read_text("utf-8")
    (program,) = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.js").write_text(program)
    lines = run("node", "page.js", cwd=tmp_path).splitlines()
    assert [line.split()[0] for line in lines] == ["cubic", "vegas"]


@needs(all(CRATES.values()) and WHEELS, "crates wheels")
def test_a_program_is_built_with_the_packed_crates_and_has_the_wheels_digest(expected, tmp_path):
    for name, files in CRATES.items():
        with tarfile.open(files[-1]) as archive:
            archive.extractall(tmp_path, filter="data")
        assert (tmp_path / f"{name}-{VERSION}/LICENSE").is_file()
    (tmp_path / "src").mkdir()
    patches = "".join(f'{name} = {{ path = "{name}-{VERSION}" }}\n' for name in CRATES)
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "user"\nversion = "1.0.0"\nedition = "2024"\n\n[dependencies]\n'
        f'ackclock-emulate = "{VERSION}"\nackclock-core = "{VERSION}"\n\n'
        f"[patch.crates-io]\n{patches}\n[workspace]\n[profile.dev]\nopt-level = 1\ndebug = 0\n"
    )
    (tmp_path / "src/main.rs").write_text(
        "fn main() {\n"
        '    let text = std::fs::read_to_string("scenario.json").expect("a file");\n'
        "    let run = ackclock_core::api::run(&text, &mut |_, _| true);\n"
        '    println!("{}", run.expect("a run").summary);\n'
        "}\n"
    )
    (tmp_path / "scenario.json").write_text(expected[1])
    shutil.copy2(ROOT / "Cargo.lock", tmp_path)
    summary = json.loads(run("cargo", "run", "--quiet", cwd=tmp_path))
    assert summary["digest"] == expected[0]


@needs(ARCHIVES and WHEELS and built("recipes/recipe.yaml"), "recipes wheels")
def test_the_archive_is_built_as_the_conda_recipe_says(expected, tmp_path):
    recipe = yaml.safe_load((DIST / "recipes/recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == VERSION
    assert recipe["source"]["sha256"] == hashlib.sha256(ARCHIVES[-1].read_bytes()).hexdigest()
    with tarfile.open(ARCHIVES[-1]) as archive:
        archive.extractall(tmp_path, filter="data")
    # Names of these packages are the same on both indexes.
    needs = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    needs += [need.replace(" ", "") for need in recipe["requirements"]["host"]]
    environment = Environment(
        tmp_path / "venv", *(need for need in needs if not need.startswith("python"))
    )
    path = f"{environment.folder / 'bin'}:{Path(UV).parent}:/usr/bin:/bin"
    source = tmp_path / f"ackclock-{VERSION}"
    command = str(environment.folder / "bin") + "/" + recipe["build"]["script"]
    # Optimised less: the digest does not depend on it.
    quick = {"MATURIN_PEP517_ARGS": "--profile dev", "VIRTUAL_ENV": str(environment.folder)}
    cargo = str(Path(shutil.which("cargo") or "").parent)
    run(*command.split(), cwd=source, PATH=f"{cargo}:{path}", **quick)
    for script in recipe["tests"][1]["script"]:
        name, *arguments = script.split()
        assert name == "ackclock"
        environment.ackclock(*arguments, cwd=tmp_path)
    done = environment.ackclock("run", str(EXAMPLE), "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["digest"] == expected[0]
    environment.ackclock("lab", "--page", cwd=tmp_path)


@needs(built("recipes/*"), "recipes")
def test_recipes_have_every_value_and_what_the_package_needs():
    formula = (DIST / "recipes/ackclock.rb").read_text("utf-8")
    recipe = (DIST / "recipes/recipe.yaml").read_text("utf-8")
    for text in (formula, recipe):
        assert not re.findall(r"@[A-Z0-9]+@", text)
        assert VERSION in text
    if shutil.which("ruby"):
        run("ruby", "-c", str(DIST / "recipes/ackclock.rb"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = re.search(r"^dependencies = \[(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    assert listed is not None
    needs = set(re.findall(r'"([^"]+)"', listed[1])) | {"python>=3.11"}
    assert {n.replace(" ", "") for n in yaml.safe_load(recipe)["requirements"]["run"]} == needs


@needs(SITE.is_dir(), "site")
def test_every_link_within_the_site_leads_somewhere():
    pages = list(SITE.rglob("*.html"))
    assert len(pages) > 50
    missing = set()
    for page in pages:
        text = page.read_text("utf-8")
        if page.parent.name == "lab" or page.name == "lab.html":
            continue  # one page without links to others
        for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', text):
            target = urllib.parse.urlsplit(html.unescape(link))
            if not target.scheme and not target.netloc and target.path:
                place = page.parent / urllib.parse.unquote(target.path)
                if target.path.startswith("/") or not place.exists():
                    missing.add(f"{page.relative_to(SITE)}: {link}")
    assert sorted(missing) == []


@needs(SITE.is_dir() and WHEELS, "site wheels")
def test_the_site_has_the_lab_and_leads_to_the_version():
    place = SITE / VERSION
    assert f"url={VERSION}/index.html" in (SITE / "index.html").read_text("utf-8")
    assert json.loads((SITE / "versions.json").read_text())[0] == VERSION
    lab = (place / "lab/index.html").read_bytes()
    assert lab == (place / "_static/lab.html").read_bytes()
    assert b"ackclock lab" in lab
    # The figures of the documentation run in the page.
    assert "_static/lab.html#lesson=collapse" in (place / "index.html").read_text("utf-8")


@needs(built("sbom/*") and WHEELS, "sbom wheels")
def test_lists_of_components_have_what_is_compiled_in_and_installed(tmp_path):
    def names(kind):
        listed = json.loads((DIST / f"sbom/{kind}.cyclonedx.json").read_text("utf-8"))
        assert listed["bomFormat"] == "CycloneDX"
        assert str(ROOT) not in json.dumps(listed)
        return {component["name"] for component in listed["components"]}

    tree = ["tree", "--package=ackclock-py", "--edges=normal", "--prefix=none", "--locked"]
    crates = {line.split()[0] for line in run("cargo", *tree, cwd=ROOT).splitlines() if line}
    assert len(crates) > 30
    assert crates - {"ackclock-py"} <= names("rust")
    environment = Environment(tmp_path / "venv", f"{WHEELS[-1]}[papers]")
    frozen = run(UV, "pip", "freeze", "--python", str(environment.folder / "bin/python"))
    installed = {line.split("==")[0].split(" @ ")[0].lower() for line in frozen.splitlines()}
    assert installed - {"ackclock"} <= names("python")
    assert "uplot" in names("web")


@needs((DIST / "SHA256SUMS").is_file(), "release")
def test_sums_are_those_of_the_files():
    lines = (DIST / "SHA256SUMS").read_text("utf-8").splitlines()
    assert len(lines) >= 10
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest
