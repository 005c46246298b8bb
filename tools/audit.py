"""Audit what ackclock is made of: licences, advisories, `unsafe` code, what threads share.

Licences of all Rust crates (`cargo metadata`) and all installed Python packages are compared with
those that this project accepts. Advisories come from RustSec (cargo-audit) and PyPI (pip-audit),
where these programs are installed and their databases can be had; where not, the report says so.
Without a network, `--rustsec` and `--pypa` name clones of both databases.
Miri runs the tests of the files with `unsafe` code where a nightly toolchain has it, and
ThreadSanitizer those of runs on several threads where one has the source of the standard library.

Exit status: 0 nothing was found, 1 a licence, an advisory, a fault under Miri or a data race. What
could not be looked up is reported, and is no failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import site
import subprocess
import sys
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

import yaml  # type: ignore[import-untyped]
from packaging.utils import canonicalize_name
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import PackageMetadata

ROOT = Path(__file__).resolve().parent.parent

LOCKS = ["Cargo.lock", "crates/ackclock-stacks/Cargo.lock"]

#: Licences that dependencies may have (SPDX); all may be combined with Apache-2.0.
ACCEPTED = {
    *(
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
    ),
    *(
        "MPL-2.0",
        "PSF-2.0",
        "Unicode-3.0",
        "Unlicense",
        "Zlib",
        "NCSA",
        "Apache-2.0 WITH LLVM-exception",
    ),
}

#: What packages write that give no SPDX expression.
NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


#: Packages whose metadata state none; read in the files that they install. The wheel of cvc5 is
#: under the modified BSD licence (its COPYING); beside it are shared libraries of GMP and MPFR,
#: under the LGPL.
IN_FILES = {"cvc5": "BSD-3-Clause"}

#: Packages that the tests alone import and nothing ships, so that any free licence will do.
TESTS_ONLY = {"flent": "GNU GPLv3"}


def is_accepted(expression: str) -> bool:
    """Say whether a licence expression can be met by accepted licences.

    Parameters
    ----------
    expression
        SPDX, with ``/`` for OR as in older crates.
    """
    expression = NAMES.get(expression, expression).replace("/", " OR ")
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace(" WITH ", "~"))
    place = 0

    def either() -> bool:
        nonlocal place
        found = both()
        while place < len(tokens) and tokens[place] == "OR":
            place += 1
            found = both() or found
        return found

    def both() -> bool:
        nonlocal place
        found = one()
        while place < len(tokens) and tokens[place] == "AND":
            place += 1
            found = one() and found
        return found

    def one() -> bool:
        nonlocal place
        if place >= len(tokens):
            return False
        token = tokens[place].replace("~", " WITH ")
        place += 1
        if token != "(":
            return token in ACCEPTED
        found = either()
        place += 1
        return found

    return either() and place >= len(tokens)


def crates() -> dict[str, str]:
    """Give the licence of each crate of Cargo.lock by name and version."""
    done = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    packages = json.loads(done.stdout)["packages"]
    return {f"{p['name']} {p['version']}": p["license"] or "" for p in packages}


def packages() -> dict[str, str]:
    """Give the licence of each installed Python package by name and version."""
    return {f"{d.metadata['Name']} {d.version}": _licence(d.metadata) for d in distributions()}


def _licence(metadata: PackageMetadata) -> str:
    classifiers = [
        text.split(" :: ")[-1]
        for text in metadata.get_all("Classifier") or []
        if text.startswith("License :: ") and text != "License :: OSI Approved"
    ]
    # Some put the whole text of the licence there.
    first = str((metadata.get_all("License") or [""])[0]).split("\n")[0].strip()
    given = (metadata.get_all("License-Expression") or [None])[0]
    if given:
        return str(given)
    # A name of several words that no one has mapped is one token, and not an accepted one.
    words = [NAMES.get(name, re.sub(r"[^\w.+-]+", "-", name).strip("-")) for name in classifiers]
    return " OR ".join(words) or first or IN_FILES.get(str(metadata["Name"]), "")


def audit_licences() -> list[str]:
    """Print a table of licences and return what is not accepted."""
    found = []
    for kind, licences in (("crates", crates()), ("Python packages", packages())):
        print(f"{len(licences)} {kind}:")
        for licence, count in Counter(licences.values()).most_common():
            print(f"  {count:>4} {licence or 'no licence stated'}")
        found += [
            f"{name}: {licence or 'no licence stated'}"
            for name, licence in sorted(licences.items())
            if not is_accepted(licence) and TESTS_ONLY.get(name.split()[0]) != licence
        ]
    return found


#: What programs write that cannot reach their databases.
OFFLINE = re.compile(
    r"couldn't fetch|could not resolve|failed to fetch|network|connection|timed out|404|403|dns",
    re.I,
)


#: How advisories are named. A report of one may hold words and numbers of the above too.
ADVISORY = re.compile(r"\b(RUSTSEC|GHSA|PYSEC|CVE)-")


def audit_crates(database: Path | None) -> list[str]:
    """Look for advisories of RustSec on the crates of each Cargo.lock.

    Parameters
    ----------
    database
        A clone of RustSec's advisory-db; left out: fetched.
    """
    title = "advisories of RustSec"
    if shutil.which("cargo-audit") is None:
        print(f"{title}: not looked up, cargo-audit is not installed")
        return []
    given = ["--db", str(database), "--no-fetch", "--stale"] if database else []
    found = []
    for lock in LOCKS:
        command = ["cargo", "audit", *given, "--file", lock]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).strip()
        if done.returncode == 0:
            known = re.search(r"Loaded ([\d,]+) security advisories", said)
            print(f"{title} on {lock}: none of {known[1] if known else 'an unknown number'}")
        elif OFFLINE.search(said) and not ADVISORY.search(said):
            print(f"{title} on {lock}: not looked up, the database cannot be reached")
        else:
            found.append(f"{title} on {lock}:\n{said}")
    return found


def audit_packages(database: Path | None) -> list[str]:
    """Look for advisories on the installed Python packages.

    Parameters
    ----------
    database
        A clone of PyPA's advisory-database; left out: pip-audit requests them of PyPI.
    """
    title = "advisories of PyPI"
    if database is not None:
        files = list(database.glob("vulns/*/*.yaml"))
        print(f"{title}: {len(files)} are in {database}")
        installed = {str(canonicalize_name(d.metadata["Name"])): d.version for d in distributions()}
        return [
            f"{title}: {name} {installed[name]}: {file.stem}"
            for file in sorted(files)
            if (name := file.parent.name) in installed
            and is_affected(file.read_text(encoding="utf-8"), installed[name])
        ]
    beside = Path(sys.executable).with_name("pip-audit")
    program = shutil.which("pip-audit") or (str(beside) if beside.exists() else None)
    if program is None:
        print(f"{title}: not looked up, pip-audit is not installed")
        return []
    # The packages of this environment, wherever the program is installed.
    where = [option for path in site.getsitepackages() for option in ("--path", path)]
    command = [program, "--skip-editable", "--progress-spinner", "off", "--format", "json", *where]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip()
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        if OFFLINE.search(said) and not ADVISORY.search(said):
            print(f"{title}: not looked up, the database cannot be reached")
            return []
        return [f"{title}:\n{said}"]
    # It ends with success where PyPI knows no package, and says so of each.
    looked_up = [package for package in packages if "vulns" in package]
    print(f"{title}: looked up for {len(looked_up)} of {len(packages)} packages")
    return [
        f"{title}: {package['name']} {package['version']}: {vulnerability['id']}"
        for package in looked_up
        for vulnerability in package["vulns"]
    ]


def is_affected(advisory: str, version: str) -> bool:
    """Say whether an advisory concerns a version.

    Parameters
    ----------
    advisory
        A file of the Open Source Vulnerability format, as YAML.
    version
        Of the package.
    """
    data = yaml.safe_load(advisory)
    if "withdrawn" in data:
        return False
    for affected in data["affected"]:
        if version in affected.get("versions", []):
            return True
        for span in affected.get("ranges", []):
            if span["type"] == "ECOSYSTEM" and _is_within(span["events"], Version(version)):
                return True
    return False


def _is_within(events: list[dict[str, str]], version: Version) -> bool:
    inside = False
    for event in events:
        ((kind, at),) = event.items()
        if kind == "introduced":
            inside |= at == "0" or version >= Version(at)
        elif kind == "fixed":
            inside &= version < Version(at)
        elif kind == "last_affected":
            inside &= version <= Version(at)
    return inside


def audit_unsafe() -> list[str]:
    """Run the tests of the file with `unsafe` code under Miri, where there is one."""
    probe = ["cargo", "+nightly", "miri", "--version"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        print(
            "unsafe code under Miri: not run, it needs the component miri of a nightly toolchain"
            " (rustup +nightly component add miri)"
        )
        return []
    return judge_tests(
        "unsafe code under Miri",
        ["cargo", "+nightly", "miri", "test", "-p", "ackclock-base", "--lib", "memory::"],
    )


def judge_tests(title: str, command: list[str], env: dict[str, str] | None = None) -> list[str]:
    """Run tests; at least one must pass, and none fail."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | (env or {})
    )
    # What cargo builds first is listed in stderr, and may be long.
    passed = re.search(r"test result: ok. (\d+) passed", done.stdout)
    if done.returncode == 0 and passed and int(passed[1]) > 0:
        print(f"{title}: {passed[1]} tests passed")
        return []
    return [f"{title}:\n{(done.stderr + done.stdout)[-3000:]}"]


#: Tests of runs that several threads share.
PARALLEL = ("packet::threads", "packet::process::exchange")


def audit_threads() -> list[str]:
    """Run the tests of runs on several threads under ThreadSanitizer, where that can be built."""
    title = "runs on several threads under ThreadSanitizer"
    known = subprocess.run(
        ["rustc", "+nightly", "-vV"], capture_output=True, text=True, check=False
    )
    root = subprocess.run(
        ["rustc", "+nightly", "--print", "sysroot"], capture_output=True, text=True, check=False
    )
    host = re.search(r"^host: (\S+)", known.stdout, re.M)
    source = Path(root.stdout.strip()) / "lib/rustlib/src/rust/library"
    # The standard library is built too: without its accesses there would be false alarms.
    if host is None or host[1] != "x86_64-unknown-linux-gnu" or not source.is_dir():
        print(
            f"{title}: not run, it needs Linux and a nightly toolchain with the component rust-src"
            " (rustup toolchain install nightly -c rust-src)"
        )
        return []
    build = ["-Zbuild-std", "--target", host[1], "-p", "ackclock-packet", "--lib"]
    flags = {
        "RUSTFLAGS": "-Zsanitizer=thread",
        "CARGO_TARGET_DIR": str(ROOT / "target/tsan"),
        # Its instrumented code is slow in any case; to optimise it takes longer than to run it.
        "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
        "PROPTEST_RNG_SEED": "1",
    }
    return judge_tests(title, ["cargo", "+nightly", "test", *build, "--", *PARALLEL], flags)


def report(found: Iterable[str]) -> int:
    """Print what was found; return the exit status."""
    found = list(found)
    print("\n".join(found) if found else "nothing was found")
    return 1 if found else 0


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    for option, what in (
        ("--rustsec", "clone of RustSec's advisory-db; left out: fetched"),
        ("--pypa", "clone of PyPA's advisory-database; left out: by pip-audit"),
    ):
        parser.add_argument(option, type=Path, metavar="FOLDER", help=what)
    given = parser.parse_args()
    advisories = audit_crates(given.rustsec) + audit_packages(given.pypa)
    return report(audit_licences() + advisories + audit_unsafe() + audit_threads())


if __name__ == "__main__":
    sys.exit(main())
