# The only entry, for people and for continuous integration. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
UV_VERSION := 0.13.8
PIP_VERSION := 26.3
SETUPTOOLS_VERSION := 84.2.1
BIN := .venv/bin
# Where reference data are; tests that need them are in modules `needs_data` and ignored by `cargo test`. As an
# absolute path: `cargo test` runs each program in the folder of its crate.
DATA := $(abspath $(or $(ACKCLOCK_DATA),$(wildcard ../shared)))
ifneq ($(DATA),)
override ACKCLOCK_DATA := $(DATA)
export ACKCLOCK_DATA
endif
# A process that starts reads modules as compiled before; tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
CARGO_TEST := cargo test --workspace --exclude ackclock-py
# Tests run side by side, those of one file in one process.
PYTEST_CORES := -n logical --maxprocesses 8 --dist loadfile
# `make test` draws the same random cases each time; `make test-full` and `make fuzz` draw new ones.
test: export PROPTEST_RNG_SEED := 1
RUST := Cargo.toml Cargo.lock $(shell find crates -path crates/ackclock-stacks -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

.PHONY: help setup setup-dev core demo test test-full lint bench bench-check fuzz chaos audit mutants stacks guests docs html web test-web wheels test-wheel npm crates publish-crates site sbom recipes \
	release test-release cut new clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

# The tools and libraries of uv.lock, in a virtual environment of this checkout.
.venv/.tools: pyproject.toml uv.lock
	@command -v cargo >/dev/null || { echo "cargo is needed: install Rust 1.88 or later"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade \
		pip==$(PIP_VERSION) setuptools==$(SETUPTOOLS_VERSION) uv==$(UV_VERSION)
	UV_PROJECT_ENVIRONMENT=.venv $(BIN)/uv sync --quiet --frozen --inexact --compile-bytecode --extra dev --no-install-project
	touch $@

# The Rust core, built and made importable from python/.
.venv/.built: .venv/.tools $(RUST)
	$(MATURIN) develop --quiet --uv --release
	$(MADE)
	$(BIN)/python -m compileall -q python/ackclock
	touch $@
	rm -f .venv/.quick

# The same core without optimisation across crates: the same bits, built sooner, a little slower.
.venv/.quick: .venv/.tools $(RUST)
	$(MATURIN) develop --quiet --uv --profile quick
	$(MADE)
	$(BIN)/python -m compileall -q python/ackclock
	touch $@
	rm -f .venv/.built

# Type stubs, and the schemas that the first lines of examples name; the core knows what is in them. A second.
MADE = $(BIN)/python tools/write_stubs.py && $(BIN)/ackclock schema --out python/ackclock/schemas > /dev/null

setup: .venv/.built ## build everything into .venv; .venv/bin/ackclock is the command line

setup-dev: .venv/.quick ## as setup, with a core that is built sooner and runs a little slower

# What tests run on: the core that `make setup` or `make setup-dev` built, if it is current.
core:
	@$(MAKE) --no-print-directory --question setup 2> /dev/null || $(MAKE) --no-print-directory setup-dev
	@$(MADE)

demo: setup ## a real network, 120 TCP flows, four queues: figures and a page in out/demo
	$(BIN)/ackclock demo --out out/demo

# What compiles one crate again sooner takes half as long again the first time: it is for who has compiled tests with cargo.
TEST_ONCE := CARGO_INCREMENTAL=$(if $(wildcard target/debug/incremental),1,0) $(CARGO_TEST)

# Without `--tests` cargo reads each crate once more for programs in its documentation; there are none.
test: core ## all tests that take seconds
	$(TEST_ONCE) --tests
	$(if $(DATA),$(TEST_ONCE) --tests -- --ignored needs_data::,@echo "no reference data (ACKCLOCK_DATA): tests that need them were ignored")
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_CORES)

test-full: core ## all tests
	$(CARGO_TEST) -- --include-ignored $(if $(DATA),,--skip needs_data)
	$(BIN)/python -m pytest --hypothesis-profile=random $(PYTEST_CORES)

lint: core ## formatting, clippy, ruff, types, layers, rules of the house
	$(BIN)/python tools/check_house.py
	$(BIN)/python tools/lint/check_names.py
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check python tests tools benchmarks
	$(BIN)/ruff format --check python tests tools benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python tools/write_readme.py --check
	$(BIN)/python tools/release/metadata.py --check

# Needs cargo-mutants; MUTANTS is the sample, such as rust:10 python:50.
mutants: core ## share of small faults that the tests notice, on a sample with a fixed seed; an hour
	$(BIN)/python tools/mutants.py $(MUTANTS)

# Run in the folder of the crate, whose .cargo/config.toml supplies random numbers. The binding of
# crates/ackclock-stacks/py takes the place of the one that `setup` built, until that is built again.
stacks: setup ## controls of s2n-quic in scenarios, connections of quinn and noq beside ours; needs a C compiler
	cd crates/ackclock-stacks && cargo test --release --target-dir ../../target/stacks -- --nocapture
	cd crates/ackclock-stacks && PYO3_BUILD_EXTENSION_MODULE=1 PYO3_PYTHON=$(CURDIR)/$(BIN)/python \
		cargo build --release -p ackclock-py-stacks --target-dir ../../target/stacks
	cp target/stacks/release/lib_core.so python/ackclock/_core.abi3.so
	$(BIN)/python -m pytest tests/stacks

# Each at the version that its folder names, into target/guests; what has no tools here is left out. ngtcp2 has no
# package: its source comes from its repository, or from NGTCP2=FOLDER.
guests: core ## guests: templates, aioquic, quic-go, quiche, TQUIC, s2n-quic, ngtcp2, quinn, noq; each is tried, and run twice
	mkdir -p target/guests
	$(PYTHON) -m venv target/guests/venv
	target/guests/venv/bin/pip install --quiet --disable-pip-version-check -r examples/guests/aioquic/requirements.txt
	cargo build --release --manifest-path examples/guests/rust/Cargo.toml --target-dir target/guests/rust
	cp target/guests/rust/release/guest-template target/guests/template-rust
	if command -v go; then cd examples/guests/go && CGO_ENABLED=0 go build -trimpath -o ../../../target/guests/template-go .; fi
	if command -v go; then $(PYTHON) examples/guests/quic-go/build.py target/guests/quic-go; fi
	if command -v cmake; then for stack in quiche tquic s2n-quic; do \
		cargo build --release --locked --manifest-path examples/guests/$$stack/Cargo.toml --target-dir target/guests/$$stack-build || exit 1; \
		cp target/guests/$$stack-build/release/$$stack-guest target/guests/$$stack || exit 1; \
	done; fi
	if cmake -S examples/guests/ngtcp2 -B target/guests/ngtcp2-build $(if $(NGTCP2),-DFETCHCONTENT_SOURCE_DIR_NGTCP2=$(abspath $(NGTCP2))); then \
		cmake --build target/guests/ngtcp2-build --parallel && cp target/guests/ngtcp2-build/ngtcp2-guest target/guests/ngtcp2; \
	else echo "ngtcp2 is left out: it needs CMake, GnuTLS and its source"; fi
	cd crates/ackclock-stacks && cargo build --release --bin connection-guest --target-dir ../../target/stacks
	cp target/stacks/release/connection-guest target/guests
	cd crates/ackclock-stacks && cargo test --release --test guest --target-dir ../../target/stacks
	$(BIN)/python -m pytest tests/guests
	$(BIN)/python benchmarks/guests/shipped_stacks.py --twice

bench: setup ## speed beside ns-2 and ns-3 where they are installed, and growth with size; many minutes
	$(PYTHON) benchmarks/compare.py
	$(PYTHON) benchmarks/scale.py
	$(PYTHON) benchmarks/fluid.py
	$(BIN)/python benchmarks/experiments.py

bench-check: ## instruction counts against those kept, within 2 %, and linear growth of checks; needs valgrind
	$(PYTHON) benchmarks/check.py
	$(PYTHON) benchmarks/growth.py

SECONDS := 600
RUNS := 1000
ROUNDS := 40
SEED := 1

fuzz: setup ## fuzz the core and the formats of files: make fuzz SECONDS=600 SEED=1; needs a C++ compiler
	$(BIN)/python tools/fuzz.py --seconds $(SECONDS) --seed $(SEED)

chaos: setup ## a sweep under kills, full disks and a clock that jumps: make chaos RUNS=1000 ROUNDS=40 SEED=1
	$(BIN)/python tools/chaos.py --runs $(RUNS) --rounds $(ROUNDS) --seed $(SEED)

# Clones of the databases of advisories, where they cannot be fetched: ADVISORIES="--rustsec FOLDER --pypa FOLDER".
audit: setup ## licences of all dependencies, known advisories, unsafe code under Miri, threads under ThreadSanitizer, as far as can be had
	$(BIN)/python tools/audit.py $(ADVISORIES)

# The reference is written anew from the core and the command line each time.
docs: html ## the documentation as HTML in docs/_build/html; warnings are errors; programs of its pages are run
	$(BIN)/python tools/check_blocks.py README.md docs

html: core
	UV_PROJECT_ENVIRONMENT=.venv $(BIN)/uv sync --quiet --frozen --inexact --extra dev --extra docs --no-install-project
	$(BIN)/python tools/write_reference.py docs/reference/generated
	$(BIN)/python tools/write_api.py docs/reference/generated/python
	$(BIN)/python tools/write_gallery.py docs/reference/generated
	$(BIN)/python tools/write_queues.py docs/reference/generated/queues
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going $(SPHINX) -b html docs docs/_build/html

web: .venv/.tools ## the lab as one HTML file; needs Node and Rust's target wasm32-unknown-unknown
	$(BIN)/python tools/build_web.py

test-web: core web ## the lab in headless Chromium, its parts in Node
	UV_PROJECT_ENVIRONMENT=.venv $(BIN)/uv sync --quiet --frozen --inexact --extra dev --extra web --no-install-project
	node --test web/test/*.test.js
	$(BIN)/python -m pytest tests/lab

# The lab's page is in both. The wheel runs on systems whose glibc is not older than this one's; for others, and for
# musl, macOS and Windows, docs/install.md names the file for continuous integration.
wheels: core web ## a wheel for this system and the source archive, in dist
	$(MATURIN) build --profile $(WHEEL_PROFILE) --out dist
	$(MATURIN) sdist --out dist

MATURIN := PATH=$(CURDIR)/$(BIN):$$PATH VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin
WHEEL_PROFILE := release

test-wheel: wheels ## the wheel in an empty environment: demo, the example paper, the lab, its size; needs the network
	$(BIN)/python -m pytest tests/packaging/test_wheel.py

# Programs of tools/release, which import each other.
RELEASE := PYTHONPATH=tools $(BIN)/python -m release

npm: setup web ## the core as WebAssembly for Node and browsers, an npm package in dist/npm
	$(RELEASE).build_npm --out dist/npm

# Where a crate needs another that the registry does not have yet, cargo builds it against the one packed beside it.
CRATES := base endpoint scenario controls queues fluid transport packet core emulate
LIBRARIES := $(foreach crate,$(CRATES),--package ackclock-$(crate))
crates: ## pack and build the crates that are libraries; dist/crates
	cargo package --locked $(LIBRARIES) $(CARGO_PACKAGE)
	mkdir -p dist/crates
	cp $(foreach crate,$(CRATES),target/package/ackclock-$(crate)-$(VERSION).crate) dist/crates
publish-crates: ## upload these crates, each after those that it needs; docs/releasing.md
	cargo publish --locked $(LIBRARIES)
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

# The page first, so that the documentation's live figures have it.
site: setup web ## documentation and lab as one folder for any static host: dist/site
	$(MAKE) --no-print-directory html SPHINX=--fresh-env
	$(RELEASE).build_site --out dist/site

sbom: wheels ## what the release is made of, as CycloneDX: dist/sbom
	$(RELEASE).write_sbom

recipes: wheels ## a conda recipe and a Homebrew formula that build from the source archive: dist/recipes
	$(RELEASE).write_recipes

# ALLOW=--dirty tries it on changes without a commit.
release: setup ## everything that is published, in dist, each part tried from an empty environment; half an hour
	$(RELEASE).check_release $(ALLOW)
	rm -rf dist
	$(MAKE) wheels npm crates site sbom recipes CARGO_PACKAGE=$(if $(ALLOW),--allow-dirty)
	$(RELEASE).list_artefacts
	$(MAKE) --no-print-directory test-release

test-release: setup ## what `make release` built, from empty environments; needs the network
	$(BIN)/python -m pytest tests/packaging

# The version of Cargo.toml; VERSION=X.Y.Z changes it first. Commits and tags in this checkout alone; docs/releasing.md.
cut: setup ## date the release, commit and tag it: make cut DATE=YYYY-MM-DD REPOSITORY=URL SITE=URL
	$(BIN)/python tools/release/metadata.py --date $(DATE) \
		$(if $(REPOSITORY),--repository $(REPOSITORY)) $(if $(SITE),--site $(SITE))
	for lock in . crates/ackclock-stacks; do cargo metadata --format-version 1 --manifest-path $$lock/Cargo.toml > /dev/null; done
	git commit --quiet --all --message "release: $(VERSION)"
	git tag --annotate --message "ackclock $(VERSION)" v$(VERSION)
	$(RELEASE).check_release --publish

new: ## begin an algorithm: make new ROOM=cc|qdisc|aqm|recovery|slow_start|sharing|policy NAME=my-rule
	@$(PYTHON) tools/new_algorithm.py $(ROOM) $(NAME)

clean: ## remove what was built
	rm -rf .venv target out dist docs/_build docs/reference/generated .pytest_cache .mypy_cache .ruff_cache
	find python -name '_core*.so' -delete
