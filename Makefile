# Aliases only: everything works without make.
.PHONY: build demo test vet bench

build:
	go build -o gowhy ./cmd/gowhy

demo:
	go run ./cmd/gowhy demo

test:
	go test ./... ./lab/...

vet:
	go vet ./... ./lab/...

bench:
	go run ./bench
