// Program is run by the tests of package subject; its flags say what it does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/agent"
)

var (
	allocs   = flag.Int("allocs", 0, "allocate so many objects of 64 bytes")
	burn     = flag.Int("burn", 0, "so many rounds of arithmetic, a million each")
	touch    = flag.Int("touch", 0, "use so many MiB of memory")
	sleep    = flag.Duration("sleep", 0, "wait")
	flood    = flag.Int("flood", 0, "print so many MiB")
	say      = flag.String("say", "", "print a text and a line's end; \\n is one, too")
	exit     = flag.Int("exit", 0, "end with this code")
	finish   = flag.Bool("finish", false, "defer agent.Finish")
	child    = flag.String("child", "", "start this program again with these flags and wait for it")
	listen   = flag.String("listen", "", "serve HTTP at this address")
	reuse    = flag.Bool("reuse", false, "share the port")
	packets  = flag.String("packets", "", "open a UDP port at this address")
	pprofMux = flag.Bool("pprof", false, "serve net/http/pprof and not the agent")
	hidden   = flag.Bool("hidden", false, "serve neither net/http/pprof nor the agent")
	deaf     = flag.Bool("deaf", false, "ignore SIGTERM")
	per      = flag.Int("per", 0, "allocate so many objects of 64 bytes for each request")
	load     = flag.String("load", "", "send requests to this URL and print a report as vegeta does")
	requests = flag.Int("requests", 100, "how many")
	env      = flag.String("env", "", "print this variable")
)

var kept *[64]byte

func allocate(n int) {
	for range n {
		kept = new([64]byte)
	}
}

func main() {
	flag.Parse()
	os.Exit(run())
}

func run() int {
	if *finish {
		defer agent.Finish()
	}
	if *deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	if *env != "" {
		fmt.Println(*env + "=" + os.Getenv(*env))
	}
	if *say != "" {
		fmt.Println(strings.ReplaceAll(*say, `\n`, "\n"))
	}
	if *child != "" {
		self, _ := os.Executable()
		if err := exec.Command(self, strings.Fields(*child)...).Run(); err != nil {
			return 1
		}
	}
	allocate(*allocs)
	work(*burn)
	memory := make([]byte, *touch<<20)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	for range *flood {
		io.WriteString(os.Stdout, strings.Repeat("a line that nobody wants to read\n", 1<<20/33))
	}
	time.Sleep(*sleep)
	switch {
	case *load != "":
		offer()
	case *listen != "" || *packets != "":
		serve()
	}
	if *exit != 0 {
		fmt.Fprintln(os.Stderr, "this is why it failed \x1b[31m")
	}
	return *exit
}

var sum uint64

func work(rounds int) {
	for range rounds {
		for i := range uint64(1e6) {
			sum += i * i
		}
	}
}

func serve() {
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if *reuse {
			const soReusePort = 15
			raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1) })
		}
		return err
	}}
	if *packets != "" {
		if _, err := c.ListenPacket(context.Background(), "udp", *packets); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("receiving")
	}
	if *listen == "" {
		select {}
	}
	l, err := c.Listen(context.Background(), "tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening at", l.Addr())
	mux := http.NewServeMux()
	switch {
	case *hidden:
	case *pprofMux:
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	default:
		mux.Handle("GET /debug/gowhy/", agent.Handler())
	}
	mux.HandleFunc("GET /work", func(w http.ResponseWriter, r *http.Request) {
		allocate(*per)
		work(*burn)
		io.WriteString(w, "done\n")
	})
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no", http.StatusInternalServerError)
	})
	fmt.Fprintln(os.Stderr, http.Serve(l, mux))
}

// offer prints what vegeta report -type=json does of a load.
func offer() {
	begin, well := time.Now(), 0
	for range *requests {
		resp, err := http.Get(*load)
		if err != nil {
			continue
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			well++
		}
	}
	took := time.Since(begin)
	fmt.Printf(`{"latencies":{"total":%d,"mean":1000000,"50th":1000000,"90th":2000000,"95th":3000000,"99th":4000000,"max":5000000,"min":500000},`+
		`"bytes_in":{"total":0,"mean":0},"bytes_out":{"total":0,"mean":0},"earliest":%q,"latest":%q,"end":%q,"duration":%d,"wait":0,"requests":%d,"rate":%g,"throughput":%g,"success":%g,"status_codes":{"200":%d},"errors":[]}`+"\n",
		took, begin.Format(time.RFC3339Nano), time.Now().Format(time.RFC3339Nano), time.Now().Format(time.RFC3339Nano), took, *requests,
		float64(*requests)/took.Seconds(), float64(well)/took.Seconds(), float64(well)/float64(*requests), well)
}
