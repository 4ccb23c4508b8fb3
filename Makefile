# Two commands: `make demo` and `make test`. Everything else is cargo or cargo xtask.

# A Rust that its installer has just put there is not in this shell's PATH.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO_TARGET_DIR ?= target
EVENKEEL = $(CARGO_TARGET_DIR)/release/evenkeel

.PHONY: help
help:
	@echo 'make demo    who loses how much to whom: x265 beside AVX-512, under every scheduler'
	@echo 'make test    everything that must hold before a change goes in'
	@echo 'make setup   what `make test` needs, without running it'
	@echo 'make clean   remove what was built'

.PHONY: demo
demo:
	@scripts/setup.sh demo
	@cargo build --release --locked -p evenkeel
	@mkdir -p out
	@$(EVENKEEL) compare parsec-x265 --replicates 10 --page out/demo.html --json out/demo.json

.PHONY: setup
setup:
	@scripts/setup.sh test

.PHONY: test
test: setup
	@cargo xtask ci

.PHONY: clean
clean:
	@cargo clean
	@rm -rf out
