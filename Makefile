# equiform: the commands people type. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What the build and the tests need of the system, beside Rust and Go: distributions' own are often too old for this
# project. Chromium is what reports are looked at with by their tests.
APT_PACKAGES := build-essential python3 python3-pip chromium

# What checks licences, sources and versions of dependencies by deny.toml.
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := target/tools/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny

# The engines that the tests run on.
TEST_ENGINES := terraform@1.6.6 terraform@1.11.4 terraform@1.15.5 tofu@1.12.6

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
PLATFORM := $(shell uname -s | tr A-Z a-z)_$(shell uname -m | sed -e s/x86_64/amd64/ -e s/aarch64/arm64/)
MIRROR := .equiform/mirror/equiform.test/equiform/mock/$(VERSION)/$(PLATFORM)
HELLO := fixtures/programs/hello
EQUIFORM := target/release/equiform

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-18s %s\n", $$1, $$2 }'

# An engine for those who have none: the one on the PATH, or the newest that is installed, or this one.
ENGINE := terraform@1.15.5

.PHONY: run
run: build ## A campaign on a real engine, under two minutes: equivalent programs, deployed and judged
	@$(EQUIFORM) engines path terraform >/dev/null 2>&1 || $(EQUIFORM) engines path tofu >/dev/null 2>&1 || $(EQUIFORM) engines install $(ENGINE)
	@engine=terraform; $(EQUIFORM) engines path terraform >/dev/null 2>&1 || engine=tofu; \
	$(EQUIFORM) run --engine "$$engine" --out .equiform/runs/$$(date +%Y%m%d-%H%M%S)

.PHONY: tour
tour: install ## Apply a small program on a real engine and read its ledger
	@engine=$$($(EQUIFORM) engines path terraform 2>/dev/null || $(EQUIFORM) engines path tofu 2>/dev/null) || { \
	  $(EQUIFORM) engines install $(ENGINE); engine=$$($(EQUIFORM) engines path $(ENGINE)); }; \
	tour=$$(mktemp -d); trap 'rm -rf "$$tour"' EXIT; \
	cp $(HELLO)/*.tf "$$tour"; \
	export TF_CLI_CONFIG_FILE="$(CURDIR)/.equiform/cli.tfrc" CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1; \
	echo "== $$engine"; \
	echo "== init, apply"; \
	"$$engine" -chdir="$$tour" init -no-color >"$$tour/init.log" || { cat "$$tour/init.log"; exit 1; }; \
	"$$engine" -chdir="$$tour" apply -auto-approve -no-color | grep -E '^(mock_node|Apply)'; \
	echo "== what the ledger says"; \
	$(EQUIFORM) ledger show "$$tour/equiform.ledger.jsonl"; \
	echo "== the graph, rebuilt from it"; \
	$(EQUIFORM) ledger graph --format json "$$tour/equiform.ledger.jsonl"; \
	echo "== destroy"; \
	"$$engine" -chdir="$$tour" destroy -auto-approve -no-color | grep -E '^(mock_node.*complete|Destroy)'; \
	$(EQUIFORM) ledger verify "$$tour/equiform.ledger.jsonl"

# The longer campaigns whose results are in README.md and docs/campaigns.md. Each is resumed where it was stopped.

# Resources and edges that come and go, applied batch by batch: what campaigns were before programs changed in place.
BARE := --algebra bare --workflows plain --create-before-destroy 0.2

.PHONY: campaign-2000
campaign-2000: build ## 2,000 variants of 4 batches by all workflows on Terraform 1.15.5 and OpenTofu 1.12.6, half an hour
	$(EQUIFORM) engines install terraform@1.15.5 tofu@1.12.6
	for engine in terraform@1.15.5 tofu@1.12.6; do \
	  $(EQUIFORM) run --engine $$engine --seed 990021 --sources 200 --variants 10 --keep failed \
	    --out .equiform/campaign-2000/$$engine; \
	done

.PHONY: campaign-1000
campaign-1000: build ## 1,000 bare variants of 4 batches on Terraform 1.15.5 and on OpenTofu 1.12.6, half an hour
	$(EQUIFORM) engines install terraform@1.15.5 tofu@1.12.6
	for engine in terraform@1.15.5 tofu@1.12.6; do \
	  $(EQUIFORM) run --engine $$engine --seed 4711 --sources 100 --variants 10 --batches 4 $(BARE) \
	    --out .equiform/campaign-1000/$$engine; \
	done

.PHONY: campaign-published
campaign-published: build ## The workload of the published study on Terraform 1.12.2 and OpenTofu 1.10.10
	$(EQUIFORM) engines install terraform@1.12.2 tofu@1.10.10
	for engine in terraform@1.12.2 tofu@1.10.10; do \
	  for size in 5/2 11/9 40/40; do \
	    $(EQUIFORM) run --engine $$engine --sources 5 --variants 10 --batches 4 $(BARE) \
	      --resources $${size%/*} --edges $${size#*/} --out .equiform/campaign-published/$$engine-$${size%/*}; \
	  done; \
	done

.PHONY: compare
compare: build ## 200 cases on every engine that can be installed, and where they differ
	$(EQUIFORM) engines install --all
	$(EQUIFORM) compare --installed --seed 50 --sources 200 --variants 1 --out .equiform/compare

# Not optimised: it is compiled once and runs for two seconds; optimising more than doubles the processor time.
$(CARGO_DENY): | tools
	CARGO_PROFILE_DEV_DEBUG=0 cargo install cargo-deny --version $(CARGO_DENY_VERSION) --locked --debug \
	  --root $(CARGO_DENY:/bin/cargo-deny=)

.PHONY: deny
deny: $(CARGO_DENY) ## Licences, sources and versions of dependencies, by deny.toml
	$(CARGO_DENY) --locked check bans licenses sources

.PHONY: test
test: tools browser deny ## Format, lints, dependencies, every test of the project, real engines included
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --document-private-items
	cargo test --workspace --locked --no-run # builds the binaries too, with the features that the tests use
	target/debug/equiform engines install $(TEST_ENGINES)
	cargo test --workspace --locked

.PHONY: test-all-engines
test-all-engines: tools ## The engine tests on every engine that can be installed
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install --all
	EQUIFORM_TEST_ENGINES=all cargo test --locked -p equiform --test engine_behaviour --test findings

.PHONY: test-real-providers
test-real-providers: install ## Stand-ins against the real providers time, local and http, which are built from source once
	$(EQUIFORM) engines install terraform@1.15.5
	scripts/real-providers

.PHONY: test-kill
test-kill: tools ## 200 runs with the provider or the engine killed at a random moment
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_KILL_RUNS=200 cargo test --locked -p equiform --test kill -- --nocapture

.PHONY: test-warm
test-warm: tools ## 200 variants warm and cold on every engine that can be installed, and 5,000 commands in one process; 40 minutes
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install --all
	EQUIFORM_TEST_ENGINES=all EQUIFORM_WARM_VARIANTS=200 EQUIFORM_WARM_COMMANDS=5000 \
	  cargo test --locked -p equiform --test warm -- --nocapture --test-threads=1 same memory

.PHONY: campaign-warm
campaign-warm: build ## 1,000 variants warm and cold on Terraform 1.15.5 and OpenTofu 1.12.6, verdict by verdict; half an hour
	$(EQUIFORM) engines install terraform@1.15.5 tofu@1.12.6
	for engine in terraform@1.15.5 tofu@1.12.6; do \
	  for start in "" --cold; do \
	    $(EQUIFORM) run --engine $$engine --seed 4711 --sources 100 --variants 10 --batches 4 $(BARE) $$start \
	      --out .equiform/campaign-warm/$$engine$$start; \
	  done; \
	  scripts/same-verdicts .equiform/campaign-warm/$$engine .equiform/campaign-warm/$$engine--cold; \
	done

.PHONY: test-faulty-engines
test-faulty-engines: tools ## OpenTofu built with one ordering fault after the other, each of which must be found; EQUIFORM_FAULTS=text chooses
	cargo test --workspace --locked --no-run
	cargo test --locked -p equiform --test faulty_engines -- --ignored --nocapture

.PHONY: test-faults
test-faults: tools ## Every seeded fault around Terraform 1.15.5 and around OpenTofu 1.12.6, and what all oracles see of it
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_ALL_FAULTS=1 cargo test --locked -p equiform --test campaign -- faults --nocapture

.PHONY: test-reduction
test-reduction: tools ## Every seeded fault, reduced from 11 resources and 4 batches to its minimum; ten minutes
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_REDUCE_ALL=1 cargo test --locked -p equiform --test campaign -- reduction --nocapture

.PHONY: install
install: build ## Put the provider where `init` finds it, under .equiform/
	@mkdir -p $(MIRROR)
	@cp target/release/terraform-provider-mock $(MIRROR)/.new && mv $(MIRROR)/.new $(MIRROR)/terraform-provider-mock
	@printf '%s\n' \
	  'provider_installation {' \
	  '  filesystem_mirror {' \
	  '    path    = "$(CURDIR)/.equiform/mirror"' \
	  '    include = ["equiform.test/*/*"]' \
	  '  }' \
	  '  direct {' \
	  '    exclude = ["equiform.test/*/*"]' \
	  '  }' \
	  '}' >.equiform/cli.tfrc
	@scripts/accept-rebuilt-provider $(HELLO) # what is deployed there can still be destroyed
	@echo 'The provider is in place. In the shell in which you use it:'
	@echo
	@echo '  export TF_CLI_CONFIG_FILE=$(CURDIR)/.equiform/cli.tfrc'
	@echo '  export PATH=$(CURDIR)/target/release:$$PATH      # for equiform and terraform-provider-mock'
	@echo

.PHONY: package
package: build ## Archives of the provider for a release, and its documentation, by the registry's conventions: dist/
	@engine=$$($(EQUIFORM) engines path terraform 2>/dev/null || $(EQUIFORM) engines path tofu 2>/dev/null) || { \
	  $(EQUIFORM) engines install $(ENGINE); engine=$$($(EQUIFORM) engines path $(ENGINE)); }; \
	scripts/package --engine "$$engine"

.PHONY: build
build: tools ## Build equiform and the provider, optimised
	cargo build --release --workspace --locked

.PHONY: bench
bench: bench-provider bench-standin bench-egraph bench-judging bench-campaign bench-report ## Measure: the provider and its peers, the e-graph and egg, judging, campaigns, reports

.PHONY: bench-provider
bench-provider: install # TFCOREMOCK=/path names a binary of that peer; see the script
	scripts/bench-provider

.PHONY: bench-standin
bench-standin: build # BENCH_TYPES=3000 makes the schema larger
	@$(EQUIFORM) engines path terraform@1.15.5 >/dev/null 2>&1 || $(EQUIFORM) engines install terraform@1.15.5
	scripts/bench-standin

.PHONY: test-drawn-schemas
test-drawn-schemas: tools ## 500 schemas at random, each planned, applied, changed and destroyed on the newest engines; 20 minutes
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_DRAWN_SCHEMAS=500 cargo test --workspace --locked --test drawn_schemas -- --nocapture

.PHONY: bench-egraph
bench-egraph: tools # EQUIFORM_BENCH_SEVEN=1 adds 7 resources, which takes minutes and gigabytes
	cargo bench -p equiform --locked --bench side_by_side

.PHONY: bench-judging
bench-judging: tools # Seconds and memory for ledgers of up to a million entries
	cargo bench -p equiform --locked --bench judging

.PHONY: bench-campaign
bench-campaign: build # EQUIFORM_BENCH_ENGINE=tofu@1.10 names an engine, EQUIFORM_BENCH_CASES=20 makes it longer
	@$(EQUIFORM) engines path terraform@1.15.5 >/dev/null 2>&1 || $(EQUIFORM) engines install terraform@1.15.5
	cargo bench -p equiform --locked --bench campaign

.PHONY: bench-report
bench-report: tools browser # What reports weigh, how fast a browser opens them, and how evenly they scroll
	cargo bench -p equiform --locked --bench report

# Nobody is at hand to be asked in CI, and root may install without asking; all others are told what is
# missing.
.PHONY: tools
tools: # What the build needs of the system
	@missing=; command -v cc >/dev/null || missing='a C compiler (cc)'; \
	python3 -m pip --version >/dev/null 2>&1 || missing="$${missing:+$$missing, }Python 3 with pip (python3 -m pip)"; \
	if [ -n "$$missing" ] && { [ "$$(id -u)" = 0 ] || [ "$${CI:-}" = true ]; }; then \
	  $(MAKE) --no-print-directory system-packages; \
	elif [ -n "$$missing" ]; then \
	  echo "Missing: $$missing. Install it, or run \`make system-packages\`, which installs $(APT_PACKAGES) by apt-get." >&2; \
	  exit 1; \
	fi
	@command -v cargo >/dev/null || { echo 'Rust 1.89 or newer is needed: install it with rustup.' >&2; exit 1; }

.PHONY: browser
browser: # What the tests of reports need; without it they are ignored
	@if ! command -v chromium >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] || [ "$${CI:-}" = true ]; then $(MAKE) --no-print-directory system-packages; else \
	    echo 'No chromium: the tests of reports in a browser are ignored. `make system-packages` installs it.' >&2; \
	  fi; \
	fi

.PHONY: system-packages
system-packages: ## Install what build and tests need of the system by apt-get, with sudo unless you are root
	@sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy $(APT_PACKAGES)

.PHONY: clean
clean: ## Remove what was built; campaigns and their evidence stay, and engines in their cache folder
	cargo clean
	rm -rf dist .equiform/mirror .equiform/cli.tfrc .equiform/cache

.PHONY: remove-evidence
remove-evidence: ## Remove all campaigns, replays and studies under .equiform, with their evidence
	rm -rf .equiform
