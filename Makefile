# Two commands matter to a newcomer: `make run` and `make test`.

.PHONY: run build test lint bench soak siege help

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

run: ## Build and start the demo venue (data in ./data/demo, port 8080)
	cargo run --release --quiet --package rialto -- demo

build: ## Build the binary: target/release/rialto
	cargo build --release --package rialto

test: ## Run every test
	cargo test --workspace --quiet

lint: ## Formatting, clippy, repository checks, licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo xtask tidy
	@if command -v cargo-deny >/dev/null 2>&1; then \
		cargo deny --offline check bans licenses sources; \
	else \
		echo "cargo-deny is not installed: licences and bans were not checked"; \
	fi

bench: ## Run every benchmark and print the tables
	cargo run --release --quiet --package rialto -- bench

soak: ## Run the simulation for ten minutes
	cargo xtask soak --minutes 10

siege: ## Attack the real binary for ten minutes
	cargo xtask siege --minutes 10
