# The same commands on every machine and in CI. They need Go. They install everything else
# into .cache, or with apt when this is root.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The linter is pinned: a new one is a commit of its own.
LINT_VERSION := v2.15.0
LINT := $(CURDIR)/.cache/bin/golangci-lint-$(LINT_VERSION)

VULN_VERSION := v1.1.4

# How long each fuzz target runs, which benchmarks, and how many rounds of contenders.
FUZZTIME ?= 20s
BENCH ?= .
ROUNDS ?= 5

.PHONY: help
help: ## List every target
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Run everything in one process, as a story on simulated traffic, and print its address
	go run ./cmd/reporter demo

.PHONY: build
build: ## Build both daemons, static, into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is linked, where the Go vulnerability database can be reached
	go run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) ./...

.PHONY: sbom
sbom: build ## Write bin/*.cdx.json, what each program is linked of, and bin/THIRD_PARTY_NOTICES
	for program in collector reporter; do go run ./scripts/modules sbom bin/$$program > bin/$$program.cdx.json; done
	go run ./scripts/modules licences > bin/THIRD_PARTY_NOTICES

# The packages that start goroutines or hold locks. store is left out, because the race
# detector makes its SQLite some twenty times slower.
CONCURRENT = $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(shell git grep -lE '\.Go\b|\bgo func|sync\.Mutex|sync\.RWMutex|atomic\.' -- \
	'internal/*.go' 'sample/*.go' 'shardkey/*.go' ':!*_test.go' ':!internal/testsupport' ':!internal/web/browser')))))
# These do most of their work in one goroutine, which takes minutes under the race detector, or
# would have S3, the pages or the demo compiled a second time for a few goroutines: make
# test-full runs them under it. All others run in CI under the race detector alone.
SLOW_RACES := $(addprefix ./internal/,alert/receiver analyze analyze/tablestream aws/catalog cli demo judge source/files source/files/bucket web)
RACED = $(filter-out $(SLOW_RACES),$(CONCURRENT))
# Tests of these packages about memory, hostile answers and statistics. Goroutines meet in
# others of the same package, and these take half the time of all under the race detector:
# CI runs them without it.
UNRACED_TESTS := TestMemoryIsBounded|TestResponsesAreBounded|TestHostileResponsesAreBounded|TestKafkaReadsInLittleMemory|TestAScatteredMessageIsBounded|TestHiddenKeysHaveNoPosition|TestDemandUnderRetries|TestFoldedTotalsAreTheUnfoldedOnes|TestFixedRateIsInTheRecords|TestAdaptiveIsUnbiased|TestAdaptiveRateAddsUp|TestLineageOfFiveHundredShards|TestTwoThousandRetainedShards
UNRACED = $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(shell git grep -lE '^func ($(UNRACED_TESTS))\b' -- $(addsuffix /*_test.go,$(RACED)))))))
# The linters vet everything.
TEST := GOGC=400 go test -vet=off -short -timeout 60m -p 4 -parallel 4

.PHONY: test
test: ## Run the tests at their short lengths, with the race detector where goroutines meet, on SQLite and a Postgres of their own
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin" && \
	$(TEST) $$(go list ./... | grep -vxFf <(go list $(RACED))) && \
	$(TEST) -run '^($(UNRACED_TESTS))$$' $(UNRACED) && \
	$(TEST) -race -skip '^($(UNRACED_TESTS))$$' $(RACED)

.PHONY: conformance
conformance: ## Hold payloads to the libraries of PagerDuty and Slack
	cd internal/alert/receiver/conformance && go test -count=1 ./...

.PHONY: clients
clients: ## Test and type-check the Python and Node clients, build their packages, and hold all clients to one table of calls; prints what each does not see
	python=$$(scripts/ensure-python-clients) && aio=$$(scripts/ensure-python-clients aio) && cd clients/python && \
	"$$python" -m mypy && "$$python" -m pytest -q --ignore tests/test_aio.py && "$$aio" -m pytest -q tests/test_aio.py && \
	"$$python" -m build --wheel --no-isolation --outdir $(CURDIR)/dist/clients .
	scripts/ensure-node-client && cd clients/node && npm test && npm run --silent types && npm pack --silent --pack-destination $(CURDIR)/dist/clients
	go test -tags e2e ./clients/... -count=1 -v -timeout 10m | grep -E 'sees|not seen|^(---|ok|FAIL|PASS)|^ +(---|.*_test\.go)'

.PHONY: prometheus
prometheus: ## Test the alert rules with promtool, hold rules and dashboards to the programs' metrics, and run both on a real Prometheus and Alertmanager
	go test ./deploy -run 'Alert|Promtool' -count=1
	cd deploy/promql && go test -count=1 ./...
	pgbin=$$(scripts/ensure-postgres) && PGBIN="$$pgbin" go test -tags e2e ./e2e -run 'TestPrometheus$$' -count=1 -timeout 10m

.PHONY: kubernetes
kubernetes: ## Build the kustomize folders, decode every object strictly, and ask kube-score for critical remarks
	go test ./deploy -run TestPods -count=1
	cd deploy/kubernetes/strict && go test -count=1 ./...

.PHONY: test-full
test-full: ## Run the tests at full length, and once more under the race detector
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin" && \
	go test -timeout 60m ./... && go test -race -timeout 120m $(CONCURRENT)

.PHONY: browser
browser: ## Hold the pages to a real Chromium, at three widths and in both colour schemes; RUN chooses, SHOTS=folder keeps pictures, FULL=1 runs axe on each page twice
	chromium=$$(scripts/ensure-chromium) && axe=$$(scripts/ensure-axe) && pgbin=$$(scripts/ensure-postgres) && cd internal/web/browser && go vet ./... && \
	CHROMIUM="$$chromium" AXE="$$axe" PGBIN="$$pgbin" go test $(if $(FULL),,-short) -count=1 -timeout 60m -run '$(or $(RUN),.)' ./... -args $(if $(SHOTS),-shots=$(abspath $(SHOTS)))

.PHONY: prose
prose: ## Judge a part of the worlds, and print how long their alerts and explanations are, and the longest ten of each
	cd detect/board && go test -short -run 'TestWorlds$$' -count=1 -args -prose

.PHONY: cover
cover: ## Print the coverage of every package, and write .cache/cover.out
	mkdir -p .cache
	pgbin=$$(scripts/ensure-postgres) && PGBIN="$$pgbin" go test -coverpkg=./... -coverprofile=.cache/cover.out ./... >/dev/null
	@go tool cover -func=.cache/cover.out | awk '$$1 != "total:" { split($$1, path, /\/[^\/]*\.go:/); sum[path[1]] += $$3; n[path[1]]++ } \
		$$1 == "total:" { total = $$3 } END { for (p in sum) printf "%5.1f%%  %s\n", sum[p]/n[p], p | "sort -n"; close("sort -n"); print total "  all statements" }'

# -e: a test dependency of a dependency's test may be unreachable. go.sum then lacks its
# lines, or has them where it could be reached, so that go.mod alone is compared: what
# go.sum lacks of what is built fails every build.
.PHONY: tidy
tidy: ## Check that go.mod is tidy, and that modules are what go.sum says
	@untidy=$$({ go mod tidy -e -diff || true; } | sed '/^diff current\/go.sum/,$$d'); \
	if [ -n "$$untidy" ]; then echo "not tidy, run go mod tidy:"; echo "$$untidy"; exit 1; fi
	go mod verify

.PHONY: lint
lint: $(LINT) ## Check formatting, the structure, and the linters of .golangci.yml, vet among them
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w:"; echo "$$unformatted"; exit 1; fi
	go run ./scripts/structure
	GOGC=200 $(LINT) run --allow-serial-runners ./...

# Built once and kept, by its version, because it takes a minute.
.PHONY: linter
linter: $(LINT) ## Build golangci-lint, which make lint does too

$(LINT):
	@echo "building golangci-lint $(LINT_VERSION), once"
	mkdir -p $(@D)/build
	GOBIN=$(@D)/build go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(@D)/build/golangci-lint $@

# One path through each source, sender and receiver, and a kill of each daemon. make e2e reads
# the trail out of moto, too, which takes half a minute to install.
SMOKE := TestPath$$/spread|TestKafkaAndStreamsTogether|TestMiddlewareIsInvisible|TestFromAProgramToAFinding|TestKilledWhenSettled|TestKilledReporters$$|TestAnalyzeATrailInS3$$/ministack

.PHONY: smoke
smoke: ## Run the programs as processes on a real Kafka, Postgres, Alertmanager and DynamoDB stand-ins, and kill each once
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin" && \
	alertmanager=$$(scripts/ensure-alertmanager) && ALERTMANAGER="$$alertmanager" go test -tags e2e ./internal/alert -run TestReal -count=1 -timeout 15m && \
	go test -tags e2e ./e2e -run '$(SMOKE)' -count=1 -timeout 60m -parallel 4 -args -faults.kills=1 -faults.reporters=1 -path.samples=200000

.PHONY: e2e
e2e: ## Run all end-to-end tests
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin" && \
	alertmanager=$$(scripts/ensure-alertmanager) && ALERTMANAGER="$$alertmanager" go test -tags e2e ./internal/alert -run TestReal -count=1 -timeout 120s && \
	go test -tags e2e ./internal/source/kafka -run TestReal -count=1 -timeout 300s && \
	go test -tags e2e ./e2e/... -count=1 -timeout 40m -parallel 4

# How much the faults are: for some minutes on two cores, and for a night.
FAULTS = -faults.rounds=1 -faults.kills=$(or $(KILLS),30) -faults.groups=2 -faults.crashes=10 -faults.databases=5 -faults.loops=12 -faults.reporters=4 -faults.strangers=1024
NIGHT := -faults.rounds=3 -faults.kills=200 -faults.groups=4 -faults.crashes=30 -faults.databases=20 -faults.loops=40 -faults.reporters=20 -faults.strangers=4096 -flood.keys=10000 -flood.producers=100000 -flood.lasts=100s

.PHONY: faults
faults: ## Run one fault after another on a real Kafka and Postgres, and print what each cost; KILLS=30 of collectors
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test -tags e2e ./e2e -run 'TestFaultsOfTheLog|TestDeadSources|TestTopicsReplaced|TestKilled|TestCutNetwork|TestLostPrimary|TestCrashLoop|TestFrozenCluster|TestClockAhead|TestFloodOf' -count=1 -v -timeout 90m -parallel 8 \
		-args $(FAULTS) -faults.rate=20000 -faults.cut=30s -faults.behind=12s -faults.frozen=30s -faults.hostile \
		| grep --line-buffered -v '"level"' && \
	go test -tags e2e ./e2e -run 'TestSlowStore' -count=1 -v -timeout 10m -args -faults.rate=20000 -faults.hostile | grep -v '"level"'

.PHONY: e2e-full
e2e-full: ## Run at full size those end-to-end tests that make e2e runs on less: the whole trace, 1,024 tables, 100 million keys
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test -tags e2e ./e2e -run 'TestPath|TestHostile|TestReporterMemory|TestManyKeys' -count=1 -v -timeout 60m \
		-args -path.samples=5000000 -memory.tables=1024 -memory.seconds=60 -memory.keys=100000000 | grep -v '"level"'

.PHONY: failover
failover: ## Kill brokers of a real three-node Kafka, and print how long partitions were silent, beside a franz-go group; KILLS=30
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test -tags e2e ./e2e -run 'TestFailover$$' -count=1 -v -timeout 90m -args -failover.kills=$(or $(KILLS),30) | grep -v '"level"'

.PHONY: latency
latency: ## Measure how long a hot key takes to reach a receiver, on a real Kafka and Postgres, and print the parts
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test -tags e2e ./e2e -run 'TestLatency$$' -count=1 -v -timeout 30m -args -latency.trials=50 -latency.strict | grep -v '"level"'

.PHONY: histories
histories: ## Play random histories of incidents, and hold what receivers were told to what was true; HISTORIES=1000
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test ./internal/judge -run 'TestHistories$$' -count=1 -timeout 5h -parallel 4 -args -histories.n=$(or $(HISTORIES),1000)

.PHONY: followed
followed: ## Follow the 20,000 keys that 1 GiB of judge.memory is for, and hold the heap to it
	go test ./internal/judge -run 'TestMemoryOfFollowedKeys$$' -count=1 -v -timeout 60m -args -followed.memory=1024 | grep -v '"level"'

.PHONY: month
month: ## Store a month of 100 tables with 200 warm keys each, 15 GB, and print how long the pages take and what the database is
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test ./internal/web -run 'TestMonth$$' -count=1 -v -timeout 5h -args -month.tables=100 -month.days=30 -month.requests=200

.PHONY: purge
purge: ## Collect a day, purge a key of it, and look for the key in every file of the database
	pgbin=$$(scripts/ensure-postgres) && export PGBIN="$$pgbin"; \
	go test ./cmd/reporter -run 'TestPurgeForgets$$' -count=1 -v -timeout 60m -args -reporter.purgehours=24

.PHONY: night
night: FAULTS = $(NIGHT)
night: test-full clients conformance prometheus e2e faults failover latency histories followed e2e-full eval bench month purge kubernetes reproducible snapshot ## Run everything that is too heavy for CI, which takes hours; then each fuzz target for ten minutes
	$(MAKE) browser FULL=1
	$(MAKE) fuzz FUZZTIME=10m

# Sizes come from what each part holds. No false "healed" in 1,112 windows of each of 27 keys,
# 30,024 in all, shows with 95% confidence that at most one in 10,000 is false. The share that
# 2,500 intervals hold of 95% varies by 0.44 points, that of 10,000 by 0.22; each may be one
# point below. 59 hours without a wrong shard count show that 95% are right; there are 100.
# The heap is small, and is collected less often.
EVAL = GOGC=400 go test -v -count=1 -timeout 60m
TABLES = grep --line-buffered -vE '^=== |^ *--- PASS: .*/'

.PHONY: eval
eval: ## Hold the verdicts to an exact oracle on seeded worlds, and print the tables
	$(EVAL) ./detect/sampling -run TestIntervalsCover | $(TABLES)
	$(EVAL) ./internal/analyze -run TestWholeSecondFiles -args -eval.files=300 | $(TABLES)
	$(EVAL) ./detect/partition -run TestCellsProvePartitions -args -partition.crowds=1000 | $(TABLES)
	$(EVAL) ./detect/internal/split -run TestEvaluation -args -eval.seeds=3 | $(TABLES)
	$(EVAL) ./detect/board -run 'TestIntervalsCover|TestCannotBeProven|TestFlushedTimes|TestAdvisedShards|TestEvaluation|TestNoFalsePages|TestNoFalseHarm' \
		-args -eval.seconds=30 -eval.seeds=3 -eval.reasons=30 -eval.hours=25 -eval.means=2500 -eval.healed=1112 -eval.refused=100 -eval.outages=400 -eval.harm=800 -eval.contended=400 | $(TABLES)

.PHONY: snapshot
snapshot: ## Build a release without publishing it, into dist/: programs, packages, checksums, bills of materials
	goreleaser=$$(scripts/ensure-goreleaser) && "$$goreleaser" release --snapshot --clean --skip=publish

.PHONY: reproducible
reproducible: ## Build the newest commit in two folders, and fail unless both have the same bytes
	scripts/reproducible

.PHONY: bench
bench: ## Print how many times as fast Keyheat is as other libraries and ways, also against a real Kafka
	cd bench && go vet ./... && go run . -rounds $(ROUNDS)

.PHONY: benchmarks
benchmarks: ## Run the packages' own benchmarks; BENCH=name chooses
	pgbin=$$(scripts/ensure-postgres) && PGBIN="$$pgbin" go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 30m ./...

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do \
		grep -oE '^func Fuzz[A-Za-z0-9_]+' "$$file" | cut -c6- | while read -r target; do \
			echo "$$(dirname "$$file") $$target"; \
			go test "$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x </dev/null; \
		done; \
	done

.PHONY: clean
clean: ## Remove what was built; what was downloaded stays in .cache
	rm -rf bin dist
