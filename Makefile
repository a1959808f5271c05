# equiform: the commands people type. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# System packages that the build and the tests need. Rust and Go are not among them, because those of distributions are
# often too old. The tests of reports use Chromium.
APT_PACKAGES := build-essential python3 python3-pip chromium

# Checks licences, sources and versions of dependencies against deny.toml.
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := target/tools/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny

# What campaigns do without, and so does `make build`: the explicit e-graph, rewriting, the diversity study.
LABORATORY := --features equiform-algebra/laboratory

# The engines that the tests run on.
TEST_ENGINES := terraform@1.6.6 terraform@1.11.4 terraform@1.15.5 tofu@1.12.6

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
PLATFORM := $(shell uname -s | tr A-Z a-z)_$(shell uname -m | sed -e s/x86_64/amd64/ -e s/aarch64/arm64/)
MIRROR := .equiform/mirror/equiform.test/equiform/mock/$(VERSION)/$(PLATFORM)
HELLO := fixtures/programs/hello
EQUIFORM := target/release/equiform

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-20s %s\n", $$1, $$2 }'

# The engine to install if there is none on the PATH and none installed.
ENGINE := terraform@1.15.5

.PHONY: run
run: build ## Run a campaign on a real engine, under two minutes: equivalent programs, deployed and judged
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

# The longer campaigns; docs/results.md has their results. Each resumes where it was stopped.

# Resources and edges come and go, applied batch by batch: campaigns as they were before programs changed in place.
BARE := --algebra bare --workflows plain --create-before-destroy 0.2

.PHONY: campaign-2000
campaign-2000: build ## Run 2,000 variants, all workflows, on Terraform 1.15.5 and OpenTofu 1.12.6; half an hour
	$(EQUIFORM) engines install terraform@1.15.5 tofu@1.12.6
	for engine in terraform@1.15.5 tofu@1.12.6; do \
	  $(EQUIFORM) run --engine $$engine --seed 990021 --sources 200 --variants 10 --keep failed \
	    --out .equiform/campaign-2000/$$engine; \
	done

.PHONY: campaign-1000
campaign-1000: build ## Run 1,000 bare variants on Terraform 1.15.5 and OpenTofu 1.12.6; half an hour
	$(EQUIFORM) engines install terraform@1.15.5 tofu@1.12.6
	for engine in terraform@1.15.5 tofu@1.12.6; do \
	  $(EQUIFORM) run --engine $$engine --seed 4711 --sources 100 --variants 10 --batches 4 $(BARE) \
	    --out .equiform/campaign-1000/$$engine; \
	done

.PHONY: campaign-published
campaign-published: build ## Run the workload of the published study on Terraform 1.12.2 and OpenTofu 1.10.10
	$(EQUIFORM) engines install terraform@1.12.2 tofu@1.10.10
	for engine in terraform@1.12.2 tofu@1.10.10; do \
	  for size in 5/2 11/9 40/40; do \
	    $(EQUIFORM) run --engine $$engine --sources 5 --variants 10 --batches 4 $(BARE) \
	      --resources $${size%/*} --edges $${size#*/} --out .equiform/campaign-published/$$engine-$${size%/*}; \
	  done; \
	done

.PHONY: compare
compare: build ## Run 200 cases on every engine that can be installed, and show where they differ
	$(EQUIFORM) engines install --all
	$(EQUIFORM) compare --installed --seed 50 --sources 200 --variants 1 --out .equiform/compare

# Not optimised: it is compiled once and runs for two seconds; optimising more than doubles the total processor time.
$(CARGO_DENY): | tools
	CARGO_PROFILE_DEV_DEBUG=0 cargo install cargo-deny --version $(CARGO_DENY_VERSION) --locked --debug \
	  --root $(CARGO_DENY:/bin/cargo-deny=)

.PHONY: deny
deny: $(CARGO_DENY) ## Check licences, sources and versions of dependencies against deny.toml
	$(CARGO_DENY) --locked check bans licenses sources

.PHONY: test
test: tools browser deny ## Check format, lints and dependencies, and run every test, on real engines
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy -p equiform-algebra --all-targets $(LABORATORY) --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --document-private-items
	cargo test --workspace $(LABORATORY) --locked --no-run # builds the binaries too, with the features that the tests use
	target/debug/equiform engines install $(TEST_ENGINES)
	cargo test --workspace $(LABORATORY) --locked

.PHONY: test-all-engines
test-all-engines: tools ## Run the engine tests on every engine that can be installed
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install --all
	EQUIFORM_TEST_ENGINES=all cargo test --locked -p equiform --test engine_behaviour --test findings

.PHONY: test-real-providers
test-real-providers: install ## Compare stand-ins with the real providers time, local and http, built from source
	$(EQUIFORM) engines install terraform@1.15.5
	scripts/real-providers

.PHONY: test-kill
test-kill: tools ## Kill the provider or the engine at a random moment, 200 times
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_KILL_RUNS=200 cargo test --locked -p equiform --test kill -- --nocapture

.PHONY: test-warm
test-warm: tools ## Compare 200 variants warm and cold on every engine, and run 5,000 commands warm; 40 minutes
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install --all
	EQUIFORM_TEST_ENGINES=all EQUIFORM_WARM_VARIANTS=200 EQUIFORM_WARM_COMMANDS=5000 \
	  cargo test --locked -p equiform --test warm -- --nocapture --test-threads=1 same memory

.PHONY: campaign-warm
campaign-warm: build ## Compare the verdicts of 1,000 variants warm and cold on two engines; half an hour
	$(EQUIFORM) engines install terraform@1.15.5 tofu@1.12.6
	for engine in terraform@1.15.5 tofu@1.12.6; do \
	  for start in "" --cold; do \
	    $(EQUIFORM) run --engine $$engine --seed 4711 --sources 100 --variants 10 --batches 4 $(BARE) $$start \
	      --out .equiform/campaign-warm/$$engine$$start; \
	  done; \
	  scripts/same-verdicts .equiform/campaign-warm/$$engine .equiform/campaign-warm/$$engine--cold; \
	done

.PHONY: test-faulty-engines
test-faulty-engines: tools ## Build OpenTofu with one fault after the other; each must be found. EQUIFORM_FAULTS=text selects
	cargo test --workspace --locked --no-run
	cargo test --locked -p equiform --test faulty_engines -- --ignored --nocapture

.PHONY: test-nightly
test-nightly: test-all-engines test-faults test-reduction ## Run what make test leaves out for its time; an hour

.PHONY: test-faults
test-faults: tools ## Try every seeded fault around Terraform 1.15.5 and OpenTofu 1.12.6, and print what each oracle sees
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_ALL_FAULTS=1 cargo test --locked -p equiform --test campaign -- faults --nocapture

.PHONY: test-reduction
test-reduction: tools ## Reduce every seeded fault from 11 resources and 4 batches to its minimum; ten minutes
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_REDUCE_ALL=1 cargo test --locked -p equiform --test campaign -- reduction --nocapture

.PHONY: install
install: build ## Install the provider under .equiform/, where `init` finds it
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
	@scripts/accept-rebuilt-provider $(HELLO) # so that what is deployed there can still be destroyed
	@echo 'The provider is in place. In the shell in which you use it:'
	@echo
	@echo '  export TF_CLI_CONFIG_FILE=$(CURDIR)/.equiform/cli.tfrc'
	@echo '  export PATH=$(CURDIR)/target/release:$$PATH      # for equiform and terraform-provider-mock'
	@echo

.PHONY: package
package: build ## Package the provider for a release, with documentation, as registries expect: dist/
	@engine=$$($(EQUIFORM) engines path terraform 2>/dev/null || $(EQUIFORM) engines path tofu 2>/dev/null) || { \
	  $(EQUIFORM) engines install $(ENGINE); engine=$$($(EQUIFORM) engines path $(ENGINE)); }; \
	scripts/package --engine "$$engine"

.PHONY: build
build: tools ## Build equiform and the provider, optimised
	cargo build --release --workspace --locked

.PHONY: build-lab
build-lab: tools ## Build equiform-lab, the commands around the algebra of programs, optimised
	cargo build --release -p equiform-algebra $(LABORATORY) --locked

.PHONY: bench
bench: bench-provider bench-standin bench-egraph bench-judging bench-campaign bench-report ## Benchmark the provider and its peers, the e-graph and egg, judging, campaigns, reports

.PHONY: bench-provider
bench-provider: install # TFCOREMOCK=/path names a binary of tfcoremock to compare with; see the script
	scripts/bench-provider

.PHONY: bench-standin
bench-standin: build # BENCH_TYPES=3000 makes the schema larger
	@$(EQUIFORM) engines path terraform@1.15.5 >/dev/null 2>&1 || $(EQUIFORM) engines install terraform@1.15.5
	scripts/bench-standin

.PHONY: test-drawn-schemas
test-drawn-schemas: tools ## Plan, apply, change and destroy programs for 500 random schemas on the newest engines; 20 minutes
	cargo test --workspace --locked --no-run
	target/debug/equiform engines install $(TEST_ENGINES)
	EQUIFORM_DRAWN_SCHEMAS=500 cargo test --workspace --locked --test drawn_schemas -- --nocapture

.PHONY: bench-egraph
bench-egraph: tools # EQUIFORM_BENCH_SEVEN=1 adds 7 resources, which takes minutes and gigabytes
	cargo bench -p equiform-algebra $(LABORATORY) --locked --bench side_by_side

.PHONY: bench-judging
bench-judging: tools # Time and memory for ledgers of up to a million entries
	cargo bench -p equiform --locked --bench judging

.PHONY: bench-campaign
bench-campaign: build # EQUIFORM_BENCH_ENGINE=tofu@1.10 names an engine, EQUIFORM_BENCH_CASES=20 makes it longer
	@$(EQUIFORM) engines path terraform@1.15.5 >/dev/null 2>&1 || $(EQUIFORM) engines install terraform@1.15.5
	cargo bench -p equiform --locked --bench campaign

.PHONY: bench-report
bench-report: tools browser # Size of reports, how fast a browser opens them, and how smoothly they scroll
	cargo bench -p equiform --locked --bench report

# In CI nobody can be asked, and root may install without asking. Everybody else gets a message that says what is missing.
.PHONY: tools
tools: # Check the system packages that the build needs
	@missing=; command -v cc >/dev/null || missing='a C compiler (cc)'; \
	python3 -m pip --version >/dev/null 2>&1 || missing="$${missing:+$$missing, }Python 3 with pip (python3 -m pip)"; \
	if [ -n "$$missing" ] && { [ "$$(id -u)" = 0 ] || [ "$${CI:-}" = true ]; }; then \
	  $(MAKE) --no-print-directory system-packages; \
	elif [ -n "$$missing" ]; then \
	  echo "Missing: $$missing. Install it, or run \`make system-packages\`, which installs $(APT_PACKAGES) with apt-get." >&2; \
	  exit 1; \
	fi
	@command -v cargo >/dev/null || { echo 'Rust 1.89 or newer is needed: install it with rustup.' >&2; exit 1; }

.PHONY: browser
browser: # The tests of reports need a browser; without one they are ignored
	@if ! command -v chromium >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] || [ "$${CI:-}" = true ]; then $(MAKE) --no-print-directory system-packages; else \
	    echo 'No chromium: the tests of reports in a browser are ignored. `make system-packages` installs it.' >&2; \
	  fi; \
	fi

.PHONY: system-packages
system-packages: ## Install the system packages for build and tests with apt-get, using sudo unless you are root
	@sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	$$sudo apt-get update -q && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy $(APT_PACKAGES)

.PHONY: clean
clean: ## Remove what was built; keep campaigns, their evidence, and installed engines
	cargo clean
	rm -rf dist .equiform/mirror .equiform/cli.tfrc .equiform/cache

.PHONY: remove-evidence
remove-evidence: ## Remove all campaigns, replays and studies under .equiform, with their evidence
	rm -rf .equiform
