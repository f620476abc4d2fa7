package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/client"
	"github.com/gowhy/gowhy/fleet/hostagent"
	"github.com/gowhy/gowhy/fleet/server"
)

func (c *command) agentCommand() *cobra.Command {
	var a asking
	var o hostagent.Options
	var share, listen string
	var spool, recordingMiB int64
	var recordings bool
	var ofProgram string
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Send the profiles of all Go programs of this host to a server",
		Long: `Finds the Go programs that run on this host, samples the CPU time of each for
ten seconds of a minute from the kernel's side, fetches heap, mutex, block and
goroutine profiles from those that serve net/http/pprof, and sends all of it to
a server with Pyroscope's push protocol. It changes no program and stops none.

When the server asks, it records one of them whole, for some seconds: through
net/http/pprof or gowhy's agent where the program has that, else from the
kernel's side. Such recordings take half of the budget at most.

A program's service is GOWHY_SERVICE or OTEL_SERVICE_NAME of its environment,
else the name of its file; its version that of its main module, else its
revision. It counts what it may not look into: run it as root, or give it
capabilities:

  sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog+ep \
    "$(command -v gowhy-fleet)"

Once a minute it says what it did and what it left out. A token needs the scope
ingest.`,
		Example: `  gowhy-fleet agent --server http://127.0.0.1:4040
  gowhy-fleet agent --server https://profiles.example.com --budget 0.2% --listen 127.0.0.1:4041
  gowhy-fleet agent --moments /var/lib/shop/gowhy-events`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Budget, err = shareOf(share); err != nil {
				return err
			}
			if o.RecordingShare, err = shareOf(ofProgram); err != nil {
				return err
			}
			if recordingMiB < 1 {
				return usageError("gowhy-fleet agent --recordings=false, for none", "--recordings-mib is 1 MiB or more")
			}
			o.NoRecordings, o.RecordingBytes = !recordings, recordingMiB<<20
			if spool < 1 {
				return usageError("gowhy-fleet agent --spool 32", "--spool is 1 MiB or more")
			}
			if a.ca != "" {
				if o.Roots, err = client.Roots(a.ca); err != nil {
					return usageError("--ca is a file of certificates in PEM", "%w", err)
				}
			}
			o.Server, o.Tenant, o.Token, o.Spool = a.server, a.tenant, cmp.Or(a.token, os.Getenv("GOWHY_FLEET_TOKEN")), spool<<20
			o.Log = slog.New(slog.NewTextHandler(c.stderr, nil))
			return c.agent(cmd.Context(), o, listen)
		},
	}
	a.where(cmd)
	f := cmd.Flags()
	f.StringVar(&share, "budget", "0.5%", "take at most this `SHARE` of the whole host")
	f.DurationVar(&o.Window, "every", time.Minute, "sampling interval, a `TIME`")
	f.DurationVar(&o.Sample, "sample", 10*time.Second, "length of a sample, a `TIME`")
	f.IntVar(&o.Hz, "hz", 49, "`N` samples for each second of CPU time")
	f.BoolVar(&o.NoScrape, "no-scrape", false, "do not ask programs that serve net/http/pprof")
	f.Int64Var(&spool, "spool", 32, "keep `MIB` for a server that is away")
	f.BoolVar(&recordings, "recordings", true, "record programs whole for some seconds when the server asks for it")
	f.StringVar(&ofProgram, "recordings-cpu", "1%", "recordings take at most this `SHARE` of the CPU time of their program")
	f.Int64Var(&recordingMiB, "recordings-mib", 256, "maximum `MIB` of recordings a day, of all programs")
	f.BoolVar(&o.RecordingText, "recordings-text", false, "leave command lines, environment, log lines and labels in them")
	f.StringVar(&o.Moments, "moments", "", "upload the recordings that appear in this `DIRECTORY`, as agent.Watch writes them")
	f.StringVar(&o.Host, "host", "", "the `NAME` of this host; the system's without")
	f.StringVar(&listen, "listen", "", "`ADDRESS` of loopback for /metrics; none without")
	return cmd
}

// shareOf reads a share: 0.5%, or 0.005.
func shareOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, usageError("gowhy-fleet agent --budget 0.5%", "%q is no share of a host, or a program", text)
	}
	return v, nil
}

// agent collects until the command is interrupted.
func (c *command) agent(ctx context.Context, o hostagent.Options, listen string) error {
	agent, err := hostagent.New(o)
	if err != nil {
		return usageError("gowhy-fleet agent --help", "%w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		if listen == "" {
			served <- nil
			return
		}
		defer stop() // without its counters it would go on unseen
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", agent)
		served <- server.ServeLocal(ctx, listen, mux, func(address string) {
			fmt.Fprintf(c.stderr, "gowhy-fleet: agent, counters at http://%s/metrics\n", address)
		})
	}()
	agent.Run(ctx)
	stop()
	return <-served
}
