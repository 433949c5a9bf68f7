# `make run` and `make test` are all you need to start; both install what is missing.

.PHONY: run test check audit bench eval torture release format types web web-watch test-setup test-rust test-web test-browser clean

NPM := npm --prefix web --no-audit --no-fund --loglevel=error
# Tests run in parallel with cargo-nextest if it is installed, otherwise with plain cargo.
RUN_TESTS := $(if $(shell command -v cargo-nextest),cargo nextest run,cargo test)
# Half of the tests wait most of the time: for deadlines, for processes to start.
TEST_THREADS := $(if $(shell command -v cargo-nextest),--test-threads $(shell echo $$((2 * $$(nproc)))))
PAGE := $(shell find web/src web/public web/index.html web/*.ts web/*.js -type f 2>/dev/null)

# The first while the second runs: what the tests need is installed while they are compiled.
beside = { $(1); } & beside=$$!; $(2) || { kill $$beside 2>/dev/null; exit 1; }; wait $$beside
CHECK_PAGE := $(NPM) run check

# A build from nothing has nothing to add to: without increments it is faster and half as large on disk.
# Nobody debugs there either: panics say where they are without line tables.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := 0
# And everything is compiled by clippy, once: what `check` lints is what `test` runs. Nothing else:
# clippy turns part of the optimiser off.
check test test-rust test-browser: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
check test test-rust test-browser: export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
LINT := $(call beside,trap 'kill $$setup' TERM; tests/setup & setup=$$!; wait $$setup && $(CHECK_PAGE),cargo build --workspace --all-targets --locked)
else
LINT := cargo clippy --workspace --all-targets --locked -- -D warnings && $(CHECK_PAGE)
endif

## Build what has changed and serve Tenon on http://127.0.0.1:8366.
run: web
	cargo run --bin tenon -- serve --open

## All tests: Rust, page logic, and the page in a real browser.
test: test-rust test-web test-browser

## What CI checks before the tests: formatting, lints, dependencies.
check: web/node_modules/.ready $(if $(CI),web)
	cargo fmt --all --check
	@$(LINT)
	node tests/dependencies.js
	node tests/structure.js

## Known vulnerabilities of the dependencies. Needs a network.
audit: web/node_modules/.ready
	cargo deny --locked check
	npm --prefix web audit --omit=dev

## Benchmarks, each figure beside its floor and target: the hub, calls over HTTP, streamed answers, long histories, MCP servers, OpenAPI documents,
## memory per tool, how well tools are found by what people ask for (tests/setup installs the documents), the bridge beside mcpo and other
## gateways (which it installs), programs of skills, what a sandbox adds to a start, calls through a browser, and the page itself: first
## load, streamed answers, long chats.
bench: web
	cargo bench -p tenon-cli --bench hub --bench calls --bench streams --bench models --bench history --bench mcp --bench openapi --bench memory --bench bridge --bench skills --bench cluster
	cargo bench -p tenon-sources --bench retrieval
	cargo build --release --bin tenon --locked
	TENON_BIN=$(CURDIR)/target/release/tenon cargo bench -p tenon-sandbox --bench spawn
	TENON_BIN=$(CURDIR)/target/release/tenon $(NPM) run overhead
	TENON_BIN=$(CURDIR)/target/release/tenon $(NPM) run speed

## How well a model calls tools, measured in a temporary data folder: make eval BASE_URL=http://127.0.0.1:8080/v1 MODEL=name
## More options of `tenon models eval` go into EVAL, e.g. EVAL="--only native --prompts 6". A key is taken from OPENAI_API_KEY.
eval: web
	@test -n "$(BASE_URL)" -a -n "$(MODEL)" || { echo "Usage: make eval BASE_URL=http://127.0.0.1:8080/v1 MODEL=name"; exit 2; }
	cargo build --bin tenon --locked
	@data=$$(mktemp -d); trap 'rm -rf "$$data"' EXIT; trap : INT; \
	env -u TENON_CONFIG -u TENON_DATABASE OPENAI_BASE_URL="$(BASE_URL)" OPENAI_API_KEY="$${OPENAI_API_KEY:-none}" \
	target/debug/tenon models eval "openai:$(MODEL)" --data "$$data" $(EVAL)

## `kill -9` under load, a thousand times; the normal suite does it fifteen times. Then ten minutes of faults in a cluster of three.
torture: web
	TORTURE_RESTARTS=1000 cargo test -p tenon-cli --test it torture -- --nocapture
	cargo build --release --bin tenon --locked
	TENON_BIN=$(CURDIR)/target/release/tenon CLUSTER_SECONDS=600 CLUSTER_CLIENTS=1000 CLUSTER_PAGES=200 cargo test -p tenon-cli --test it cluster::chaos -- --nocapture
	TORTURE_CORPUS=1 TORTURE_CASES=512 cargo test -p tenon-openapi --test it
	TORTURE_TEXTS=1 cargo test -p tenon-assistant -p tenon-sources -- a_message_as_long_as_a_book a_page_of_any_size
	TORTURE_CALLS=500 $(NPM) run e2e -- e2e/reloads.test.js

## The optimised binary with the page inside: target/release/tenon.
release: web
	cargo build --release --bin tenon --locked

format: web/node_modules/.ready
	cargo fmt --all
	$(NPM) run format

## Generate the API's TypeScript from the Rust types.
types:
	UPDATE_TYPES=1 cargo test -q -p tenon-server --test it

web: web/dist/index.html

web/dist/index.html: web/node_modules/.ready $(PAGE)
	$(NPM) run build

web/node_modules/.ready: web/package.json web/package-lock.json
	$(NPM) ci
	@touch $@

## The page with hot reload, next to a running `make run`.
web-watch: web/node_modules/.ready
	$(NPM) run dev

test-setup:
	@tests/setup

test-rust: web
	@$(call beside,tests/setup,$(RUN_TESTS) --workspace --locked --no-run)
	$(RUN_TESTS) --workspace --locked $(TEST_THREADS)

test-web: web/node_modules/.ready
	$(NPM) test

# Uses the binary that test-rust built: the same feature set, so nothing is built twice.
test-browser: test-setup web
	$(RUN_TESTS) --workspace --locked --no-run
	$(NPM) run e2e

clean:
	rm -rf target web/dist web/node_modules
