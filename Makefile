# For users: demo, build, install, deb. For a change: test. Everything else is cargo or cargo xtask.

# A Rust that its installer has just put there is not in this shell's PATH.
export PATH := $(HOME)/.cargo/bin:$(PATH)
# A machine that builds once gains nothing from cargo's notes for the next build.
ifdef CI
export CARGO_INCREMENTAL := 0
endif

CARGO_TARGET_DIR ?= target
EVENKEEL = $(CARGO_TARGET_DIR)/release/evenkeel
SCX_EVENKEEL = $(CARGO_TARGET_DIR)/release/scx_evenkeel
DEMO = $(CARGO_TARGET_DIR)/demo/evenkeel
# The last avoids losses, by core specialization; those before it give time back, or do nothing.
DEMO_SCHEDULERS = cfs,eevdf,muqss,fair,fair-relative,fair-isolation,even,fair-specialize

.PHONY: help
help:
	@echo 'make demo    who loses how much to whom: x265 beside AVX-512, under every scheduler'
	@echo 'make kernel-demo   the kernel scheduler in a virtual machine, beside x265: a page'
	@echo 'make evidence   what `even` is worth: all experiments, mixes, recordings, mistakes: a page (20 min)'
	@echo 'make test    the checks of a change'
	@echo 'make test-long   those that take minutes each: sanitizers, damaged input, release, install'
	@echo 'make setup   what `make test` needs, without running it'
	@echo 'make build   evenkeel with its recorder, and the kernel scheduler scx_evenkeel'
	@echo 'make install / uninstall   both, their manuals and completions (PREFIX=/usr/local)'
	@echo 'make deb     a package for Debian and Ubuntu'
	@echo 'make clean   remove what was built'

.PHONY: demo
demo:
	@scripts/setup.sh demo
	@cargo build --profile demo --no-default-features --locked -p evenkeel
	@mkdir -p out
	@$(DEMO) compare parsec-x265-builds --scheduler $(DEMO_SCHEDULERS) \
		--page out/demo.html --json out/demo.json

.PHONY: evidence
evidence:
	@scripts/setup.sh demo
	@cargo build --release --no-default-features --locked -p evenkeel
	@$(EVENKEEL) evaluate data/measurements/even/study.toml \
		--page out/evidence.html --csv out/evidence.csv

KERNEL = out/kernel
.PHONY: kernel-demo
kernel-demo: setup build
	@cargo xtask lab works --results $(KERNEL)
	@$(EVENKEEL) trace import $(KERNEL)/works/even.ekdec -o $(KERNEL)/run.ektrace
	@$(EVENKEEL) trace page $(KERNEL)/run.ektrace -o out/kernel.html
	@echo 'The page: out/kernel.html'

.PHONY: setup
setup:
	@scripts/setup.sh test

.PHONY: test
test: setup
	@cargo xtask ci

.PHONY: test-long
test-long: setup
	@cargo xtask ci --long

PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
MAN8 = $(SHARE)/man/man8
BASH_COMPLETIONS = $(SHARE)/bash-completion/completions
ZSH_COMPLETIONS = $(SHARE)/zsh/site-functions
FISH_COMPLETIONS = $(SHARE)/fish/vendor_completions.d

.PHONY: build
build:
	@scripts/setup.sh build
	@cargo build --release --locked -p evenkeel
	@cargo build --release --locked -p scheduler
	@touch $(EVENKEEL) $(SCX_EVENKEEL)

# Whose checkout it is, builds; `sudo make install` must not leave root's files in it, nor need a
# compiler of root's, and so it takes what was built if nothing is newer.
SOURCES = Cargo.toml Cargo.lock */Cargo.toml */build.rs */build */src */include */tables */files
.PHONY: built
built:
	@if [ -O . ]; then $(MAKE) --no-print-directory build; \
	elif [ ! -e $(EVENKEEL) ] || [ ! -e $(SCX_EVENKEEL) ]; then \
		echo 'make: not everything is built yet; run `make build` first, without sudo' >&2; exit 1; \
	elif [ -n "$$(find $(SOURCES) -type f \( -newer $(EVENKEEL) -o -newer $(SCX_EVENKEEL) \) | \
		head -n 1)" ]; then \
		echo 'make: what is built is older than the sources; run `make build`, without sudo' >&2; \
		exit 1; \
	fi

.PHONY: install
install: built
	@install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(EVENKEEL) $(SCX_EVENKEEL)
	@$(EVENKEEL) generate man $(SHARE)/man/man1
	@$(EVENKEEL) generate completions bash -o $(BASH_COMPLETIONS)/evenkeel
	@$(EVENKEEL) generate completions zsh -o $(ZSH_COMPLETIONS)/_evenkeel
	@$(EVENKEEL) generate completions fish -o $(FISH_COMPLETIONS)/evenkeel.fish
	@install -d $(MAN8)
	@$(SCX_EVENKEEL) --generate man >$(MAN8)/scx_evenkeel.8
	@$(SCX_EVENKEEL) --generate bash >$(BASH_COMPLETIONS)/scx_evenkeel
	@$(SCX_EVENKEEL) --generate zsh >$(ZSH_COMPLETIONS)/_scx_evenkeel
	@$(SCX_EVENKEEL) --generate fish >$(FISH_COMPLETIONS)/scx_evenkeel.fish
	@echo "installed $(DESTDIR)$(PREFIX)/bin/evenkeel: $$($(EVENKEEL) --version)"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/scx_evenkeel: $$($(SCX_EVENKEEL) --version)"

.PHONY: uninstall
uninstall:
	@rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,evenkeel scx_evenkeel) \
		$(SHARE)/man/man1/evenkeel.1 $(SHARE)/man/man1/evenkeel-*.1 $(MAN8)/scx_evenkeel.8 \
		$(addprefix $(BASH_COMPLETIONS)/,evenkeel scx_evenkeel) \
		$(addprefix $(ZSH_COMPLETIONS)/_,evenkeel scx_evenkeel) \
		$(addprefix $(FISH_COMPLETIONS)/,evenkeel.fish scx_evenkeel.fish)

.PHONY: deb
deb: built
	@scripts/deb.sh

.PHONY: clean
clean:
	@cargo clean
	@$(MAKE) --no-print-directory -C tasks clean
	@rm -rf out
