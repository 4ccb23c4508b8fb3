# For users: demo, build, install, deb. For a change: test. Everything else is cargo or cargo xtask.

# A Rust that its installer has just put there is not in this shell's PATH.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO_TARGET_DIR ?= target
EVENKEEL = $(CARGO_TARGET_DIR)/release/evenkeel
DEMO = $(CARGO_TARGET_DIR)/demo/evenkeel

.PHONY: help
help:
	@echo 'make demo    who loses how much to whom: x265 beside AVX-512, under every scheduler'
	@echo 'make test    everything that must hold before a change goes in'
	@echo 'make setup   what `make test` needs, without running it'
	@echo 'make build   the command with its recorder, at target/release/evenkeel'
	@echo 'make install / uninstall   the command, its manual and completions (PREFIX=/usr/local)'
	@echo 'make deb     a package for Debian and Ubuntu'
	@echo 'make clean   remove what was built'

.PHONY: demo
demo:
	@scripts/setup.sh demo
	@cargo build --profile demo --no-default-features --locked -p evenkeel
	@mkdir -p out
	@$(DEMO) compare parsec-x265 --replicates 10 --page out/demo.html --json out/demo.json

.PHONY: setup
setup:
	@scripts/setup.sh test

.PHONY: test
test: setup
	@cargo xtask ci

PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = bash-completion/completions/evenkeel zsh/site-functions/_evenkeel \
	fish/vendor_completions.d/evenkeel.fish

.PHONY: build
build:
	@scripts/setup.sh build
	@cargo build --release --locked -p evenkeel

$(EVENKEEL):
	@$(MAKE) --no-print-directory build

# Installs what stands at $(EVENKEEL), so that root need not have a compiler.
.PHONY: install
install: $(EVENKEEL)
	@install -D -m 755 $(EVENKEEL) $(DESTDIR)$(PREFIX)/bin/evenkeel
	@$(EVENKEEL) generate man $(SHARE)/man/man1
	@$(EVENKEEL) generate completions bash -o $(SHARE)/$(word 1,$(COMPLETIONS))
	@$(EVENKEEL) generate completions zsh -o $(SHARE)/$(word 2,$(COMPLETIONS))
	@$(EVENKEEL) generate completions fish -o $(SHARE)/$(word 3,$(COMPLETIONS))
	@echo 'installed $(DESTDIR)$(PREFIX)/bin/evenkeel; `man evenkeel` explains it'

.PHONY: uninstall
uninstall:
	@rm -f $(DESTDIR)$(PREFIX)/bin/evenkeel $(SHARE)/man/man1/evenkeel.1 \
		$(SHARE)/man/man1/evenkeel-*.1 $(addprefix $(SHARE)/,$(COMPLETIONS))

.PHONY: deb
deb: $(EVENKEEL)
	@scripts/deb.sh

.PHONY: clean
clean:
	@cargo clean
	@rm -rf out
