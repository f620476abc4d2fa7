module github.com/gowhy/gowhy

go 1.26.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // latencies of offered load, exact to three digits in little memory
	github.com/cilium/ebpf v0.22.0 // loads the small programs with which the kernel counts system calls and switches
	github.com/gdamore/tcell/v2 v2.13.10 // the terminal of gowhy top: cells, keys, mouse; draws only what changed
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe // the profile format that every Go tool reads and writes, and its own viewer
	github.com/gowhy/gowhy/agent v0.1.0 // what is recorded, and the file that holds it; a module of its own, so that importing it requires nothing else
	github.com/klauspost/compress v1.20.2 // zstd, in which people pack evidence
	github.com/rivo/uniseg v0.4.7 // how many columns a name takes, for that terminal
	github.com/spf13/cobra v1.10.2 // the command line: subcommands, help, completion
	github.com/spf13/pflag v1.0.10 // cobra's flags, where help is made from them
	go.yaml.in/yaml/v3 v3.0.6 // the policy of gowhy gate
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // traces of Go 1.21 and older; the reference that tests and benchmarks compare with
	golang.org/x/net v0.57.0 // DNS messages and what HTTP takes for a header, for the load
	golang.org/x/sys v0.49.0 // mmap and madvise
	golang.org/x/term v0.47.0 // whether stderr is a terminal, and how wide
)

require (
	github.com/gdamore/encoding v1.0.1 // indirect
	github.com/ianlancetaylor/demangle v0.0.0-20250417193237-f615e6bd150b // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/lucasb-eyer/go-colorful v1.3.0 // indirect
	golang.org/x/text v0.40.0 // indirect
)
