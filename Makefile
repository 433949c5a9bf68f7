# `make run` and `make test` are all a newcomer needs; both set up what is missing.

.PHONY: run test check audit bench torture release format types web web-watch test-setup test-rust test-web test-browser clean

NPM := npm --prefix web --no-audit --no-fund --loglevel=error
# cargo-nextest runs the tests side by side; plain cargo does as well.
RUN_TESTS := $(if $(shell command -v cargo-nextest),cargo nextest run,cargo test)
# Half of the tests wait most of the time: for deadlines, for processes to start.
TEST_THREADS := $(if $(shell command -v cargo-nextest),--test-threads $(shell echo $$((2 * $$(nproc)))))
PAGE := $(shell find web/src web/public web/index.html web/*.ts web/*.js -type f 2>/dev/null)

## Serve Tenon on http://127.0.0.1:8366, building what has changed.
run: web
	cargo run --bin tenon -- serve --open

## All tests: Rust, page logic, and the page in a real browser.
test: test-rust test-web test-browser

## What CI checks before it tests.
check: web/node_modules/.ready
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(NPM) run check
	node tests/dependencies.js
	node tests/structure.js

## Known weaknesses of what is built in. Asks the network.
audit: web/node_modules/.ready
	cargo deny --locked check
	npm --prefix web audit --omit=dev

## What the hub, a streamed answer, a long history, MCP servers, OpenAPI documents, their tools in memory and calls by a browser cost, beside their floors and targets.
bench: web
	cargo bench -p tenon-server --bench hub --bench models --bench history --bench mcp --bench openapi --bench memory
	cargo build --release --bin tenon --locked
	TENON_BIN=$(CURDIR)/target/release/tenon $(NPM) run overhead

## A thousand times `kill -9` under load; the suite does it a few times.
torture: web
	TORTURE_RESTARTS=1000 cargo test -p tenon-server --test it torture -- --nocapture

## One optimised binary with the page inside: target/release/tenon.
release: web
	cargo build --release --bin tenon --locked

format: web/node_modules/.ready
	cargo fmt --all
	$(NPM) run format

## The API's TypeScript, written from the Rust types.
types:
	UPDATE_TYPES=1 cargo test -q -p tenon-server --lib typescript

web: web/dist/index.html

web/dist/index.html: web/node_modules/.ready $(PAGE)
	$(NPM) run build

web/node_modules/.ready: web/package.json web/package-lock.json
	$(NPM) ci
	@touch $@

## The page with hot reload, beside a running `make run`.
web-watch: web/node_modules/.ready
	$(NPM) run dev

test-setup:
	@tests/setup

# What the tests need is installed while they are compiled.
test-rust: web
	@tests/setup & installing=$$!; \
	$(RUN_TESTS) --workspace --locked --no-run || { kill $$installing; exit 1; }; \
	wait $$installing
	$(RUN_TESTS) --workspace --locked $(TEST_THREADS)

test-web: web/node_modules/.ready
	$(NPM) test

# With the binary as the tests before built it: another set of features would be another build.
test-browser: test-setup web
	$(RUN_TESTS) --workspace --locked --no-run
	$(NPM) run e2e

clean:
	rm -rf target web/dist web/node_modules
