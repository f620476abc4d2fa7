package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/client"
	"github.com/gowhy/gowhy/fleet/printer"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// asking are the flags of commands that ask a server.
type asking struct {
	server, tenant, from, until string
	token, ca                   string
	labels                      []string
	limit                       int
	json                        bool
}

func (a *asking) flags(cmd *cobra.Command, limit int) {
	a.where(cmd)
	f := cmd.Flags()
	f.StringVar(&a.from, "from", "now-1h", "`TIME` to begin at, like now-24h or 2006-01-02T15:04:05Z")
	f.StringVar(&a.until, "until", "now", "`TIME` to end at")
	f.StringArrayVar(&a.labels, "label", nil, "match this label, `NAME=VALUE`; repeatable")
	f.IntVarP(&a.limit, "limit", "n", limit, "maximum `N` lines")
	f.BoolVar(&a.json, "json", false, "print the answer as JSON")
}

// where adds the flags of the server alone.
func (a *asking) where(cmd *cobra.Command) {
	address := os.Getenv("GOWHY_FLEET_SERVER")
	if address == "" {
		address = "http://" + defaultListen
	}
	f := cmd.Flags()
	f.StringVar(&a.server, "server", address, "`URL` of the server; GOWHY_FLEET_SERVER in the environment")
	f.StringVar(&a.tenant, "tenant", "", "`TENANT` whose data to ask for")
	f.StringVar(&a.token, "token", "", "`TOKEN` of the server; better GOWHY_FLEET_TOKEN in the environment, which other users of the host cannot see")
	f.StringVar(&a.ca, "ca", "", "trust the certificates of `FILE` (PEM) and no others")
}

func (a *asking) values() url.Values {
	return url.Values{"from": {a.from}, "until": {a.until}, "limit": {strconv.Itoa(a.limit)}, "label": a.labels}
}

// connect returns a client of the server.
func (a *asking) connect() (*client.Client, error) {
	server, err := client.New(a.server, a.tenant)
	if err != nil {
		return nil, usageError("--server http://"+defaultListen, "%w", err)
	}
	server.SetToken(cmp.Or(a.token, os.Getenv("GOWHY_FLEET_TOKEN")))
	if a.ca != "" {
		if err := server.Trust(a.ca); err != nil {
			return nil, usageError("--ca is a file of certificates in PEM", "%w", err)
		}
	}
	return server, nil
}

// ask asks a question and prints the answer: as it is, or by text.
func ask[T any](c *command, cmd *cobra.Command, a *asking, question string, q url.Values, text func(*T)) error {
	server, err := a.connect()
	if err != nil {
		return err
	}
	if a.json {
		data, err := server.Raw(cmd.Context(), question, q)
		if err == nil {
			_, err = c.stdout.Write(append(bytes.TrimSpace(data), '\n'))
		}
		return err
	}
	var answer T
	if err := server.Ask(cmd.Context(), question, q, &answer); err != nil {
		return err
	}
	text(&answer)
	return nil
}

func (c *command) servicesCommand() *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "services",
		Short: "Which services use most CPU, with their versions and processes",
		Long: `Lists the versions of services that sent profiles, those first that use most CPU.
Cores are those of all processes: what one used while it was profiled, times their
number.`,
		Example: "  gowhy-fleet services\n  gowhy-fleet services --from now-24h --label zone=b --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(c, cmd, &a, "services", a.values(), func(s *api.Services) { printer.Services(c.stdout, s) })
		},
	}
	a.flags(cmd, 30)
	return cmd
}

func (c *command) topCommand() *cobra.Command {
	var a asking
	var version, instance, kind string
	cmd := &cobra.Command{
		Use:     "top SERVICE",
		Short:   "Which functions of a service have most CPU, allocations or waits",
		Example: "  gowhy-fleet top checkout\n  gowhy-fleet top checkout --version v1.5.0 --type alloc_space",
		Args:    one("service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := a.values()
			q.Set("service", args[0])
			q.Set("version", version)
			q.Set("instance", instance)
			q.Set("type", kind)
			return ask(c, cmd, &a, "top", q, func(t *api.Top) { printer.Top(c.stdout, t, kind) })
		},
	}
	a.flags(cmd, 20)
	cmd.Flags().StringVar(&version, "version", "", "only this `VERSION`")
	cmd.Flags().StringVar(&instance, "instance", "", "only this `PROCESS`")
	cmd.Flags().StringVar(&kind, "type", "cpu", "`TYPE` of profile: cpu, alloc_space, alloc_objects, inuse_space, goroutines, mutex_delay, block_delay")
	return cmd
}

func (c *command) versionsCommand() *cobra.Command {
	var a asking
	var service string
	cmd := &cobra.Command{
		Use:   "versions",
		Short: "Which deploys made a service worse, by how much and in which function",
		Long: `Compares each version of a service with the one before it, by the CPU of an operation
where operations are counted, else by that of a second. Processes are the replicates:
hosts that ran both versions are compared with themselves. A change is claimed where
its probability without one is below 5%, all services together, and it is 2% or more.`,
		Example: "  gowhy-fleet versions --from now-24h\n  gowhy-fleet versions --service checkout --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := a.values()
			q.Set("service", service)
			return ask(c, cmd, &a, "versions", q, func(v *api.Versions) { printer.Versions(c.stdout, v) })
		},
	}
	a.flags(cmd, 1000)
	cmd.Flags().StringVar(&service, "service", "", "only this `SERVICE`")
	return cmd
}

func (c *command) findingsCommand() *cobra.Command {
	var a asking
	var service string
	var asSARIF bool
	cmd := &cobra.Command{
		Use:   "findings",
		Short: "Which causes the rules found, in which service, since when, at what cost",
		Long: `Lists the causes that gowhy's rules found in the merged profiles of all processes of a
version, over spans of five minutes. One is listed when two spans have it, and gone
when the last three have not. The cost in cores is that of all processes together.
Whether memory in use or goroutines grow without end is judged each quarter of an hour,
over four hours.`,
		Example: "  gowhy-fleet findings --from now-24h\n  gowhy-fleet findings --service checkout --json\n  gowhy-fleet findings -n 1000 --sarif > findings.sarif",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := a.values()
			q.Set("service", service)
			if asSARIF && a.json {
				return usageError("gowhy-fleet findings --sarif", "the answer is JSON or SARIF, not both")
			}
			var failed error
			err := ask(c, cmd, &a, "findings", q, func(f *api.Findings) {
				if asSARIF {
					failed = printer.SARIF(c.stdout, f)
				} else {
					printer.Findings(c.stdout, f)
				}
			})
			return errors.Join(err, failed)
		},
	}
	a.flags(cmd, 20)
	cmd.Flags().StringVar(&service, "service", "", "only this `SERVICE`")
	cmd.Flags().BoolVar(&asSARIF, "sarif", false, "print those that are there now as SARIF 2.1.0, for code hosts and editors")
	return cmd
}

func (c *command) diffCommand() *cobra.Command {
	var a asking
	var base, head, baseFrom, baseUntil string
	cmd := &cobra.Command{
		Use:   "diff SERVICE",
		Short: "What two versions of a service, or two times, cost, and which causes came and went",
		Long: `Compares two versions of a service in one time, or one service in two times: CPU,
allocations and waits, of an operation where operations are counted, with processes as
replicates. The probabilities are corrected for all types together.`,
		Example: "  gowhy-fleet diff checkout --base v1.4.0 --head v1.5.0 --from now-24h\n  gowhy-fleet diff checkout --from now-1h --base-from now-25h --base-until now-24h",
		Args:    one("service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := a.values()
			q.Set("service", args[0])
			for name, value := range map[string]string{"base_version": base, "version": head, "base_from": baseFrom, "base_until": baseUntil} {
				if value != "" {
					q.Set(name, value)
				}
			}
			if base == "" && baseFrom == "" {
				return usageError("gowhy-fleet diff --help", "diff wants --base and --head, or --base-from and --base-until")
			}
			return ask(c, cmd, &a, "diff", q, func(d *api.Diff) { printer.Diff(c.stdout, d) })
		},
	}
	a.flags(cmd, 1)
	_ = cmd.Flags().MarkHidden("limit")
	f := cmd.Flags()
	f.StringVar(&base, "base", "", "`VERSION` to compare with")
	f.StringVar(&head, "head", "", "`VERSION` that is compared")
	f.StringVar(&baseFrom, "base-from", "", "`TIME` at which what is compared with begins")
	f.StringVar(&baseUntil, "base-until", "", "`TIME` at which it ends")
	return cmd
}

func (c *command) evidenceCommand() *cobra.Command {
	var a asking
	var version, instance, out string
	cmd := &cobra.Command{
		Use:   "evidence SERVICE",
		Short: "Save the merged profiles of a service as a recording, for gowhy",
		Long: `Saves the CPU, allocation, mutex and block profiles of all processes of a service as
one recording: gowhy diagnoses it and gowhy view shows it, as a process that ran as
long as all of them together.`,
		Example: "  gowhy-fleet evidence checkout --version v1.5.0 -o merged.gowhy\n  gowhy view merged.gowhy",
		Args:    one("service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := a.values()
			q.Set("service", args[0])
			q.Set("version", version)
			q.Set("instance", instance)
			return c.save(cmd, &a, "evidence", q, out, "gowhy ", "")
		},
	}
	a.flags(cmd, 1)
	for _, unused := range []string{"limit", "json"} {
		_ = cmd.Flags().MarkHidden(unused)
	}
	cmd.Flags().StringVar(&version, "version", "", "only this `VERSION`")
	cmd.Flags().StringVar(&instance, "instance", "", "only this `PROCESS`")
	cmd.Flags().StringVarP(&out, "out", "o", "merged.gowhy", "`FILE` to write")
	return cmd
}

// save writes an answer into a file, whole or not at all, and hints at the command that reads
// it; - is standard output.
func (c *command) save(cmd *cobra.Command, a *asking, question string, q url.Values, out, hint, after string) error {
	server, err := a.connect()
	if err != nil {
		return err
	}
	data, err := server.Raw(cmd.Context(), question, q)
	if err != nil {
		return err
	}
	if out == "-" {
		_, err := c.stdout.Write(data)
		return err
	}
	partial := out + ".partial"
	if err := os.WriteFile(partial, data, 0o644); err != nil {
		return err
	}
	if err := os.Rename(partial, out); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "gowhy-fleet: wrote %s\n", layout.Safe(out))
	if hint != "" {
		fmt.Fprintf(c.stderr, "hint: %s%s%s\n", hint, layout.Safe(shell.Word(out)), after)
	}
	return nil
}
