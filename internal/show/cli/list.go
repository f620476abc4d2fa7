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
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
)

func (c *command) listCommand() *cobra.Command {
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the Go programs that run on this machine",
		Long: `Lists the Go programs that run here, as the build information in their files
has them, and where each can be recorded. The endpoint is found by asking their
own TCP ports for net/http/pprof or the gowhy agent, with one GET each.

Recordings of the current directory that nobody finishes, because gowhy was
killed, are named with the command that does. So are those of programs that the
kernel killed for want of memory: record --until-memory was there.`,
		Example: `  gowhy list
  gowhy list --json | jq -r '.[] | select(.endpoint) | .endpoint'
  gowhy record -o run.gowhy --pid 4711`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			programs, err := proc.Programs(cmd.Context())
			switch {
			case errors.Is(err, proc.ErrSystem):
				return problem.New(problem.Absence, "gowhy record --help   # records by an address, --url", "programs cannot be listed: %w", err)
			case cmd.Context().Err() != nil:
				return err
			case err != nil:
				c.complain(err.Error(), "")
			}
			rows, refused := listRows(programs)
			if !quiet {
				findEndpoints(cmd.Context(), reachable(rows, proc.OwnListening), record.Endpoint)
			}
			if asJSON {
				err = writeJSON(c.Stdout, rows)
			} else {
				err = writeTable(c.Stdout, rows, c.layout().Width)
			}
			if err != nil {
				return err
			}
			c.listNotes(len(rows), refused)
			c.offerUnfinished(".")
			c.offerKilled(".")
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

// reachable returns those programs whose ports are ours, too: at the port of one in a
// container another program may answer here.
func reachable(rows []*listRow, own func(pids ...int) map[int][]string) (list []*listRow) {
	pids := make([]int, len(rows))
	for i, r := range rows {
		pids[i] = r.PID
	}
	at := own(pids...)
	for _, r := range rows {
		if len(at[r.PID]) > 0 {
			list = append(list, r)
		}
	}
	return list
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

// listColumns are those of the table. Where the screen is too narrow, those
// with the lowest drop are left out first; 0 stays.
var listColumns = []struct {
	head string
	drop int
	text func(*listRow) string
}{
	{"PID", 0, func(r *listRow) string { return strconv.Itoa(r.PID) }},
	{"PROGRAM", 0, func(r *listRow) string { return cell(r.Program) }},
	{"VERSION", 4, func(r *listRow) string { return cell(r.Version) }},
	{"GO", 3, func(r *listRow) string { return cell(r.Go) }},
	{"CPU TIME", 5, func(r *listRow) string { return figures.Seconds(r.CPU) }},
	{"THREADS", 1, func(r *listRow) string { return strconv.Itoa(r.Threads) }},
	{"RSS", 2, func(r *listRow) string { return figures.Bytes(r.RSS) }},
	{"ENDPOINT", 0, func(r *listRow) string { return cell(r.Endpoint) }},
}

// writeTable writes as many columns as fit the width; 0 has no edge.
func writeTable(w io.Writer, rows []*listRow, width int) error {
	if len(rows) == 0 {
		return nil
	}
	var text string
	for least := range 7 {
		if text = listTable(rows, least); width == 0 || !widerThan(text, width) {
			break
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// listTable has the columns that stay when those with a drop of least and less
// do not.
func listTable(rows []*listRow, least int) string {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(text func(i int) string) {
		var cells []string
		for i, c := range listColumns {
			if c.drop == 0 || c.drop > least {
				cells = append(cells, text(i))
			}
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	line(func(i int) string { return listColumns[i].head })
	for _, r := range rows {
		line(func(i int) string { return listColumns[i].text(r) })
	}
	t.Flush()
	return b.String()
}

func widerThan(text string, width int) bool {
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > width {
			return true
		}
	}
	return false
}

// cell shows a name from a program's file, which may hold anything.
func cell(s string) string {
	if s == "" {
		return "-"
	}
	return layout.Safe(s)
}

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
