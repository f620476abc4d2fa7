package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/proc"
	"github.com/gowhy/gowhy/internal/report"
)

func (c *command) listCommand() *cobra.Command {
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the Go programs that run on this machine",
		Long: `Lists the Go programs that run here, as the build information in their files
has them, and where each can be recorded. The endpoint is found by asking their
own TCP ports for net/http/pprof or the gowhy agent, with one GET each.`,
		Example: `  gowhy list
  gowhy list --json | jq -r '.[] | select(.endpoint) | .endpoint'
  gowhy record -o run.gowhy --pid 4711`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			programs, err := proc.Programs(cmd.Context())
			switch {
			case errors.Is(err, proc.ErrSystem):
				return &failure{exitNoEvidence, "programs cannot be listed: " + err.Error(), "gowhy record -o run.gowhy --url http://localhost:6060"}
			case cmd.Context().Err() != nil:
				return err
			case err != nil:
				c.complain(err.Error(), "")
			}
			rows, refused := listRows(programs)
			if !quiet {
				findEndpoints(cmd.Context(), rows, evidence.Endpoint)
			}
			write := writeTable
			if asJSON {
				write = writeJSON
			}
			if err := write(c.Stdout, rows); err != nil {
				return err
			}
			c.listNotes(len(rows), refused)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.Flags().BoolVar(&quiet, "no-probe", false, "ask no port for an endpoint")
	return cmd
}

// A listRow is one program of the list, and the form of its JSON.
type listRow struct {
	PID       int      `json:"pid"`
	Program   string   `json:"program"` // path of the main package
	Module    string   `json:"module,omitempty"`
	Version   string   `json:"version,omitempty"`
	Go        string   `json:"go"`
	Exe       string   `json:"exe"`
	Args      []string `json:"args,omitempty"`
	Listening []string `json:"listening,omitempty"`
	Endpoint  string   `json:"endpoint,omitempty"`
	Agent     bool     `json:"agent,omitempty"` // the endpoint is the agent's
	CPU       float64  `json:"cpu_seconds"`
	Threads   int      `json:"threads"`
	RSS       uint64   `json:"rss_bytes"`
}

// listRows leaves out this very program and counts what it could not look into.
func listRows(programs []proc.Program) (rows []*listRow, refused int) {
	rows = []*listRow{} // [] in JSON
	for _, p := range programs {
		switch {
		case p.Build == nil:
			refused++
		case p.PID != os.Getpid():
			r := &listRow{
				PID: p.PID, Program: p.Build.Path, Module: p.Build.Main.Path, Version: p.Build.Main.Version, Go: p.Build.GoVersion,
				Exe: p.Exe, Args: p.Args, Listening: p.Listening, CPU: p.CPU.Seconds(), Threads: p.Threads, RSS: p.RSS,
			}
			if r.Program == "" || r.Program == "command-line-arguments" { // go run main.go
				r.Program = path.Base(p.Exe)
			}
			rows = append(rows, r)
		}
	}
	return rows, refused
}

// Of probing: at most this many programs at once, and no longer in all.
const (
	probesAtOnce = 8
	probeLimit   = 10 * time.Second
)

// findEndpoints asks the ports of all programs.
func findEndpoints(ctx context.Context, rows []*listRow, endpoint func(context.Context, []string) (string, bool)) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	var wg sync.WaitGroup
	slots := make(chan struct{}, probesAtOnce)
	for _, r := range rows {
		if len(r.Listening) == 0 {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			r.Endpoint, r.Agent = endpoint(ctx, r.Listening)
			<-slots
		})
	}
	wg.Wait()
}

func writeTable(w io.Writer, rows []*listRow) error {
	if len(rows) == 0 {
		return nil
	}
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PID\tPROGRAM\tVERSION\tGO\tCPU TIME\tTHREADS\tRSS\tENDPOINT")
	for _, r := range rows {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.PID, cell(r.Program), cell(r.Version), cell(r.Go),
			cpuTime(r.CPU), r.Threads, memory(r.RSS), cell(r.Endpoint))
	}
	t.Flush()
	_, err := w.Write(b.Bytes())
	return err
}

// cell shows a name from a program's file, which may hold anything.
func cell(s string) string {
	if s == "" {
		return "-"
	}
	return report.Safe(s)
}

func cpuTime(seconds float64) string {
	if d := time.Duration(seconds * float64(time.Second)); d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.2fs", seconds)
}

func memory(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/mebibytes) }

func writeJSON(w io.Writer, rows []*listRow) error {
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// listNotes says what the list lacks.
func (c *command) listNotes(shown, refused int) {
	hint := ""
	if refused > 0 && os.Geteuid() != 0 {
		hint = "sudo gowhy list"
	}
	switch {
	case refused == 1:
		c.complain("1 process could not be looked into: not permitted", hint)
	case refused > 1:
		c.complain(fmt.Sprintf("%d processes could not be looked into: not permitted", refused), hint)
	}
	if shown == 0 {
		c.complain("no Go program was found running here", "gowhy record -o run.gowhy -- ./PROGRAM")
	}
}
