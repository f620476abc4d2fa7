# Aliases only: everything works without make, except pgo.
.PHONY: build demo test vet bench dist pgo

build:
	go build -o gowhy ./cmd/gowhy

demo:
	go run ./cmd/gowhy demo

test:
	go test ./... ./lab/... ./agent/... ./fleet/...

vet:
	go vet ./... ./lab/... ./agent/... ./fleet/...

bench:
	go run ./bench

dist:
	go run ./bench/dist

# The profile that go build reads when it compiles the commands: runs over a
# trace of each sort that the reader meets, for accounts and for the timeline.
pgo: dir := $(shell mktemp -d)
pgo:
	go build -trimpath -pgo=off -o $(dir)/bench ./bench
	for kind in channels http spawn gc files tasks coroutines ms64 ms1024; do \
		$(dir)/bench -generate $$kind -size 40000000 $(dir)/trace && \
		for run in 1 2 3 4 5; do \
			$(dir)/bench -run gowhy -cpuprofile $(dir)/$$kind-$$run.prof $(dir)/trace > $(dir)/out || exit 1; \
		done; \
		for run in 1 2; do \
			$(dir)/bench -run picture -cpuprofile $(dir)/$$kind-picture-$$run.prof $(dir)/trace > $(dir)/out || exit 1; \
		done; \
	done
	go tool pprof -proto $(dir)/*.prof > cmd/gowhy/default.pgo
	rm -r $(dir)
