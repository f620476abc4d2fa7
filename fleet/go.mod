module github.com/gowhy/gowhy/fleet

go 1.26.0

require (
	connectrpc.com/connect v1.21.1 // the protocol of Grafana's data source
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe // profiles for go tool pprof; the parser that ours is compared with
	github.com/gowhy/gowhy v0.1.0 // statistics, figures, and text that a terminal can bear
	github.com/gowhy/gowhy/agent v0.1.0 // the form of recordings
	github.com/grafana/pyroscope-go v1.5.0 // the client of most Go programs, in tests
	github.com/grafana/pyroscope/api v1.6.0 // its messages, and those of clients in tests
	github.com/parquet-go/parquet-go v0.32.0 // the segments, which ClickHouse, Trino and Spark read as they are
	github.com/spf13/cobra v1.10.2 // the command line: subcommands, help, completion
	go.opentelemetry.io/proto/otlp v1.11.0 // resources of OpenTelemetry, in tests
	go.opentelemetry.io/proto/otlp/collector/profiles/v1development v0.4.0 // its client, in tests
	go.opentelemetry.io/proto/otlp/profiles/v1development v0.4.0 // the messages that ours are compared with, in tests
	go.yaml.in/yaml/v3 v3.0.6 // the configuration file, with the lines of what is wrong
	golang.org/x/sys v0.49.0 // the lock of a directory on Windows
	google.golang.org/grpc v1.82.1 // what that client needs, in tests
	google.golang.org/protobuf v1.36.12 // the wire format of profiles and requests
	modernc.org/sqlite v1.60.0 // the catalog, without cgo
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/cilium/ebpf v0.22.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/gnostic v0.7.1 // indirect
	github.com/google/gnostic-models v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorilla/mux v1.8.1 // indirect
	github.com/grafana/pyroscope-go/godeltaprof v0.1.12 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.29.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/compress v1.20.2 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/planetscale/vtprotobuf v0.6.1-0.20250313105119-ba97887b0a25 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260720211330-0afa2a65878a // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260720211330-0afa2a65878a // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
