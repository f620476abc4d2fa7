package main

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/config"
	"github.com/gowhy/gowhy/fleet/ingest/forward"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/quota"
	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/rules"
)

// serving are the flags of serve.
type serving struct {
	file, listen, data, forward string
	protocol                    string // of forward
	keep, every                 time.Duration
	memory                      int64 // MiB
	targets                     []string
	check                       bool
	given                       func(flag string) bool // on the command line
	found                       *config.Discovery      // of the last settings
}

func (s *serving) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	s.given = f.Changed
	f.StringVar(&s.file, "config.file", "", "`FILE` of configuration; flags win over it, SIGHUP reads it again")
	f.BoolVar(&s.check, "check-config", false, "say what would be done, or all that is wrong with the file, and end")
	f.StringVar(&s.listen, "listen", defaultListen, "`ADDRESS` to listen on; beyond loopback only with tokens and TLS of a file")
	f.StringVar(&s.data, "data", "gowhy-data", "`DIRECTORY` for everything that is kept")
	f.DurationVar(&s.keep, "keep", 0, "drop what is older than this `TIME`; 0 keeps all")
	f.StringArrayVar(&s.targets, "scrape", nil, "fetch from SERVICE=URL, or `SERVICE@VERSION=URL`, the index of its pprof; repeatable")
	f.DurationVar(&s.every, "every", scrape.DefaultInterval, "interval of --scrape, a `TIME`; the CPU profile takes a sixth of it")
	f.Int64Var(&s.memory, "memory", 256, "memory limit in `MIB`, near which pushes are answered with 429; GOMEMLIMIT in the environment wins")
	f.StringVar(&s.forward, "forward", "", "pass what is pushed on to the server at `URL`, too")
	f.StringVar(&s.protocol, "forward-protocol", "pyroscope", "`PROTOCOL` of --forward: pyroscope, or otlp for an OpenTelemetry Collector")
}

// leastMemory is what the tables of a store and a question need, in MiB.
const leastMemory = 128

// load reads the file, and the flags over it.
func (s *serving) load() (*config.Config, error) {
	c := &config.Config{}
	if s.file != "" {
		var err error
		var problems config.Problems
		if c, err = config.Load(s.file); err != nil && !errors.As(err, &problems) {
			return nil, usageError("gowhy-fleet serve --help", "%w", err)
		} else if err != nil {
			return nil, err
		}
	}
	if s.given("listen") || c.Listen == "" {
		c.Listen = s.listen
	}
	if s.given("data") || c.Data == "" {
		c.Data = s.data
	}
	if s.given("keep") {
		c.Retention = s.keep
	}
	if s.given("forward") {
		c.Forward = &config.Forward{URL: s.forward, Protocol: s.protocol}
	} else if s.given("forward-protocol") {
		return nil, usageError("--forward http://collector:4318 --forward-protocol otlp", "--forward-protocol is of --forward")
	}
	return c, nil
}

// settings returns those parts of a configuration that can change while the server runs.
func (s *serving) settings(c *config.Config) (server.Settings, error) {
	settings := server.Settings{Tokens: c.Tokens, Limits: c.Tenants, Recordings: c.Recordings}
	if c.Prices != nil {
		settings.Prices = &api.Prices{CoreHour: c.Prices.CoreHour, GiBHour: c.Prices.GiBHour, Currency: c.Prices.Currency}
	}
	if c.TLS != nil {
		settings.TLS = c.TLS.Server
	}
	if s.keep < 0 || s.every < time.Second || s.memory < leastMemory {
		return settings, usageError("gowhy-fleet serve --help", "--keep is 0 or more, --every a second or more, --memory %d or more", leastMemory)
	}
	var fixed []scrape.Target
	for _, text := range s.targets {
		t, err := targetOf(text, s.every)
		if err != nil {
			return settings, err
		}
		fixed = append(fixed, t)
	}
	found := c.Discovery(s.found)
	s.found = found
	settings.Targets = func() ([]scrape.Target, error) {
		targets, err := found.Targets()
		return append(slices.Clone(fixed), targets...), err
	}
	settings.Discover, settings.Metrics = found.Run, found.Metrics
	return settings, nil
}

// options returns those of a server, and of its store.
func (s *serving) options(log *slog.Logger) (c *config.Config, o server.Options, err error) {
	if c, err = s.load(); err != nil {
		return c, o, err
	}
	o = server.Options{Listen: c.Listen, Insecure: c.Insecure, Rules: rules.All, Log: log, Memory: s.memory << 20}
	if os.Getenv("GOMEMLIMIT") != "" {
		o.Memory = debug.SetMemoryLimit(-1)
	}
	if o.Settings, err = s.settings(c); err != nil {
		return c, o, err
	}
	if c.Forward != nil {
		f := forward.Options{URL: c.Forward.URL, Protocol: forward.Protocol(c.Forward.Protocol), Log: log}
		if c.Forward.BearerFile != "" {
			f.Bearer = c.Forward.Bearer
		}
		if o.Forward, err = forward.New(f); err != nil {
			return c, o, usageError("--forward http://pyroscope:4040", "%w", err)
		}
	}
	if s.file != "" {
		o.Load = func() (server.Settings, error) {
			now, err := s.load()
			if err != nil {
				return server.Settings{}, err
			}
			for _, what := range fixedChanges(c, now) {
				log.Warn("the file has changed what needs a restart", "key", what)
			}
			return s.settings(now)
		}
	}
	return c, o, nil
}

// fixedChanges returns the keys that differ and cannot change while the server runs.
func fixedChanges(a, b *config.Config) (keys []string) {
	forwards := func(c *config.Config) config.Forward { return *cmp.Or(c.Forward, &config.Forward{}) }
	for key, same := range map[string]bool{
		"listen": a.Listen == b.Listen, "insecure": a.Insecure == b.Insecure, "data": a.Data == b.Data,
		"retention": a.Retention == b.Retention, "store": reflect.DeepEqual(a.Store, b.Store), "forward": forwards(a) == forwards(b),
	} {
		if !same {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// runServe serves as the flags and the file say.
func (c *command) runServe(cmd *cobra.Command, s *serving) error {
	log := slog.New(slog.NewTextHandler(c.stderr, nil))
	file, o, err := s.options(log)
	if err != nil {
		return err
	}
	if s.check {
		return summary(c.stdout, s.file, file, o)
	}
	debug.SetMemoryLimit(o.Memory)
	if s.file != "" {
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP)
		defer signal.Stop(hangup)
		o.Hangup = hangup
	}
	return c.serve(cmd.Context(), file, o)
}

// summary writes what a server would do.
func summary(w io.Writer, name string, c *config.Config, o server.Options) error {
	if err := server.Reachable(c.Listen, len(c.Tokens) > 0, c.TLS != nil, c.Insecure); err != nil {
		return usageError("gowhy-fleet serve --help", "%w", err)
	}
	targets, err := o.Settings.Targets()
	if err != nil {
		return usageError("the files of targets and secrets must be readable", "%w", err)
	}
	line := func(key, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", key, layout.Safe(fmt.Sprintf(format, args...)))
	}
	if name != "" {
		line("file", "%s has no mistake", name)
	}
	line("listen", "%s%s", c.Listen, secured(c))
	kept := "for ever"
	if c.Retention > 0 {
		kept = "for " + c.Retention.String()
	}
	line("data", "%s, kept %s", c.Data, kept)
	if h := c.Store.ClickHouse; h != nil {
		line("store", "ClickHouse, database %s, %s", h.Database, figures.Plural(len(h.Shards), "shard", "shards"))
		if _, err := h.Password(); err != nil {
			return usageError("the files of targets and secrets must be readable", "%w", err)
		}
	}
	for _, t := range c.Tokens {
		of := "the tenant without a name"
		if len(t.Tenants) > 0 {
			of = strings.Join(t.Tenants, ", ")
		}
		line("token", "%s: %s, of %s", t.Name, t.Scopes, of)
	}
	for _, tenant := range slices.Sorted(maps.Keys(c.Tenants)) {
		line("tenant", "%q: %s", tenant, limits(c.Tenants[tenant]))
	}
	lists := 0
	for _, s := range c.Scrapes {
		lists += len(s.HTTP)
	}
	more := ""
	if lists > 0 { // which --check-config does not ask: they may be elsewhere than here
		more = ", and those of " + figures.Plural(lists, "URL", "URLs") + " when the server runs"
	}
	line("scrape", "%s now%s", figures.Plural(len(targets), "target", "targets"), more)
	if o := c.Recordings; o != nil {
		turn := "only on a trigger"
		if o.Every > 0 {
			turn = "of each version once in " + o.Every.String()
		}
		line("recordings", "%s, %v each, %d at once", turn, o.Length, o.Most)
	}
	if c.Forward != nil {
		line("forward", "to %s, which speaks %s", c.Forward.URL, cmp.Or(c.Forward.Protocol, "pyroscope"))
	}
	if p := c.Prices; p != nil {
		line("prices", "%g %s for a core and hour, %g %s for a GiB and hour", p.CoreHour, p.Currency, p.GiBHour, p.Currency)
	}
	return nil
}

func secured(c *config.Config) string {
	switch {
	case c.TLS == nil:
		return ", without TLS"
	case c.TLS.ClientCAFile != "":
		return ", with TLS, for clients with a certificate"
	}
	return ", with TLS"
}

func limits(l quota.Limits) string {
	var all []string
	for _, x := range []struct {
		n    int64
		what string
	}{{l.BytesPerSecond, "bytes a second"}, {l.Burst, "at once"}, {int64(l.Services), "services"}, {int64(l.Labels), "labels"}} {
		if x.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return cmp.Or(strings.Join(all, ", "), "no limits")
}

func (c *command) tokenCommand() *cobra.Command {
	var name string
	var scopes, tenants []string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make a token, and the line of the configuration that knows it",
		Long: `Prints a new random token, which is shown only now, and the element of tokens for the
configuration file. The file has a hash: whoever reads it cannot use it as a token.`,
		Example: "  gowhy-fleet token --name agents --scope ingest --tenant shop\n  gowhy-fleet token --name grafana --scope read",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range scopes {
				if _, ok := access.Scopes[s]; !ok {
					return usageError("--scope ingest, read or admin", "there is no scope %q", s)
				}
			}
			var random [32]byte
			rand.Read(random[:])
			token := "gowhy_" + base64.RawURLEncoding.EncodeToString(random[:])
			element := fmt.Sprintf("- {name: %q, sha256: %x, scopes: [%s]", name, access.Hash(token), strings.Join(scopes, ", "))
			if len(tenants) > 0 {
				element += fmt.Sprintf(", tenants: [%s]", strings.Join(tenants, ", "))
			}
			_, err := fmt.Fprintf(c.stdout, "token  %s\ntokens:\n  %s}\n", token, element)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "new", "`NAME` of the token, for logs and errors")
	cmd.Flags().StringSliceVar(&scopes, "scope", []string{"ingest"}, "`SCOPE`: ingest, read or admin; repeatable")
	cmd.Flags().StringSliceVar(&tenants, "tenant", nil, "`TENANT` that it is for; repeatable")
	return cmd
}
