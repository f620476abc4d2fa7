package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/config"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/clickhouse"
	"github.com/gowhy/gowhy/fleet/store/embedded"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/rules"
)

const defaultListen = "127.0.0.1:4040"

func (c *command) serveCommand() *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep the profiles that programs send, or that are fetched from them",
		Long: `Takes profiles as Pyroscope's SDKs send them (set their server address to this one), and fetches them from programs with net/http/pprof: a CPU profile of ten
seconds of each minute, and heap, mutex, block and goroutine profiles. It keeps
everything in one directory. Others reach it when a configuration file has tokens and
certificates; without that it listens on loopback only.`,
		Example: `  gowhy-fleet serve
  gowhy-fleet serve --data ./gowhy-data --keep 720h
  gowhy-fleet serve --config.file fleet.yaml --check-config
  gowhy-fleet serve --scrape shop=http://localhost:6060/debug/pprof --scrape shop@v1.2.3=http://localhost:6061/debug/pprof`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runServe(cmd, &s) },
	}
	s.flags(cmd)
	return cmd
}

// targetOf reads SERVICE=URL or SERVICE@VERSION=URL.
func targetOf(text string, every time.Duration) (t scrape.Target, err error) {
	name, address, ok := strings.Cut(text, "=")
	u, err := url.Parse(address)
	if !ok || name == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return t, usageError("--scrape shop=http://localhost:6060/debug/pprof", "--scrape %q is not SERVICE=URL", text)
	}
	service, version, _ := strings.Cut(name, "@")
	return scrape.Target{Source: store.Source{Service: service, Version: version, Instance: u.Host}, URL: address, Interval: every, CPU: every / 6}, nil
}

// serve opens a store and serves it until the command is interrupted.
func (c *command) serve(ctx context.Context, f *config.Config, o server.Options) error {
	s, err := open(ctx, f, o)
	if err != nil {
		return err
	}
	kept := runs.Options{Keep: f.Retention}
	if c.again != nil {
		kept.Diagnose = subprocessDiagnoser(c.again, o.Memory>>20)
	}
	if o.Runs, err = runs.Open(filepath.Join(f.Data, "runs"), kept); err != nil {
		return errors.Join(err, s.Close())
	}
	where := f.Data
	if h := f.Store.ClickHouse; h != nil {
		where = fmt.Sprintf("ClickHouse's database %s, recordings in %s", h.Database, f.Data)
	}
	o.Ready = func(address string) {
		scheme := "http"
		if o.Settings.TLS != nil {
			scheme = "https"
		}
		fmt.Fprintf(c.stderr, "gowhy-fleet: listening on %s://%s, data in %s\n", scheme, address, layout.Safe(where))
	}
	return errors.Join(server.Serve(ctx, s, o), o.Runs.Close(), s.Close())
}

// open opens the store that a configuration names.
func open(ctx context.Context, f *config.Config, o server.Options) (store.Store, error) {
	h := f.Store.ClickHouse
	if h == nil {
		return embedded.Open(f.Data, embedded.Options{Keep: f.Retention, Memory: server.TableBytes(o.Memory)})
	}
	password, err := h.Password()
	if err != nil {
		return nil, err
	}
	return clickhouse.Open(ctx, clickhouse.Options{
		Shards: h.Shards, Replicated: h.Replicated, Database: h.Database, User: h.User, Password: password, Keep: f.Retention,
		Problem: func(err error) { o.Log.Error("the store", "err", err) },
	})
}

func (c *command) demoCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Serve a simulated fleet, in which a deploy made a service worse and another leaks",
		Long: `Simulates six services of twenty processes for three or four hours that end now, keeps
what they would send in a directory that goes with the command, and serves it. One of
the services costs more since its deploy, and gowhy-fleet versions says which. Another
keeps more and more memory, and gowhy-fleet findings says in which function.`,
		Example: "  gowhy-fleet demo\n  gowhy-fleet versions --from now-3h   # in another terminal\n  gowhy-fleet findings --from now-3h",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.demo(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "`ADDRESS` of loopback to listen on")
	return cmd
}

func (c *command) demo(ctx context.Context, listen string) error {
	dir, err := os.MkdirTemp("", "gowhy-fleet-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := embedded.Open(dir, embedded.Options{})
	if err != nil {
		return err
	}
	n := 0
	now := time.Now()
	for _, plan := range []simulate.Plan{demoLeak(now), demoFleet(now)} {
		err = errors.Join(err, fill(ctx, s, plan, &n))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "gowhy-fleet: %d batches of a simulated fleet were kept\nhint: gowhy-fleet services --from now-3h, gowhy-fleet versions --from now-3h, gowhy-fleet findings --from now-3h\n", n)
	return c.serve(ctx, &config.Config{Data: dir}, server.Options{Listen: listen, Rules: rules.All, Log: slog.New(slog.NewTextHandler(c.stderr, nil))})
}

// compiling is a regular expression that is compiled for each call.
var compiling = []*store.Frame{
	{Function: "regexp/syntax.(*compiler).compile", File: "regexp/syntax/compile.go", Line: 166},
	{Function: "regexp/syntax.Compile", File: "regexp/syntax/compile.go", Line: 78},
	{Function: "regexp.compile", File: "regexp/regexp.go", Line: 184},
	{Function: "regexp.Compile", File: "regexp/regexp.go", Line: 135},
	{Function: "regexp.MustCompile", File: "regexp/regexp.go", Line: 321},
}

// demoPlan returns a fleet without services, of a time that ends now.
func demoPlan(now time.Time, length time.Duration) simulate.Plan {
	return simulate.Plan{Seed: 1, Start: now.Add(-length).Truncate(time.Second), Length: length, Step: 5 * time.Minute}
}

// demoService returns one of twenty processes, without versions.
func demoService(name string) simulate.Service {
	// Of a heap a process sends what is in use at that moment.
	stacks := append(slices.Clone(simulate.Usual), simulate.Shape{Type: store.InuseSpace, Count: 100, Sum: 40 << 20, Unit: 512})
	return simulate.Service{Name: name, Processes: 20, Stacks: stacks}
}

// demoLeak returns one service, which keeps more and more in a map. It runs for as long as the
// growth of memory is judged over, which the others need not.
func demoLeak(now time.Time) simulate.Plan {
	plan := demoPlan(now, 4*time.Hour)
	s := demoService("catalog")
	s.Versions = []simulate.Version{{Name: "v1.5.0", Levels: []simulate.Level{{
		Type: store.InuseSpace, Function: s.Function(7), Hourly: 200 << 20,
		Calls: []*store.Frame{{Function: "runtime.mapassign_faststr", File: "runtime/map_faststr.go", Line: 203}},
	}}}}
	plan.Services = []simulate.Service{s}
	return plan
}

// demoFleet is five services more, of which checkout is dearer since its second version.
func demoFleet(now time.Time) simulate.Plan {
	plan := demoPlan(now, 3*time.Hour)
	for _, name := range []string{"cart", "checkout", "frontend", "payment", "shipping"} {
		s := demoService(name)
		s.Versions = []simulate.Version{{Name: "v1.4.0"}, {Name: "v1.5.0", Deploy: time.Hour, Rollout: time.Hour}}
		if name == "checkout" {
			s.Versions[1].Causes = []simulate.Cause{
				{Type: store.CPU, Function: s.Function(3), Calls: compiling, Sum: 9e9},
				{Type: store.AllocSpace, Function: s.Function(3), Calls: compiling, Sum: 900 << 20},
			}
		}
		plan.Services = append(plan.Services, s)
	}
	return plan
}

// writers is how many batches wait for the disk at once.
const writers = 32

// fill writes what a fleet sends.
func fill(ctx context.Context, s store.Store, plan simulate.Plan, n *int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, writers)
	for b := range plan.Batches() {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		*n++
		go func() {
			if err := write(ctx, s, b); err != nil {
				stop(err)
			}
			<-slots
		}()
	}
	for range writers {
		slots <- struct{}{}
	}
	return context.Cause(ctx)
}

// write writes a batch, later where the store has no room.
func write(ctx context.Context, s store.Store, b *store.Batch) error {
	for {
		err := s.Write(ctx, b)
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
