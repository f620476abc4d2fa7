package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/printer"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

func (c *command) runsCommand() *cobra.Command {
	var a asking
	var service, version, from, until string
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "The recordings that the server keeps, and the first cause that is in each",
		Long: `Lists recordings that were sent with gowhy-fleet runs push, the latest first. The server
diagnoses each as gowhy does, one at a time; the line has the first cause it found.`,
		Example: `  gowhy-fleet runs --service checkout
  gowhy-fleet runs push gowhy-events/*.gowhy --service checkout
  gowhy-fleet runs get 1f0c8a3b52d7 -o checkout.gowhy`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{"from": {from}, "until": {until}, "limit": {strconv.Itoa(a.limit)}, "service": {service}, "version": {version}}
			return ask(c, cmd, &a, "runs", q, func(r *api.Recordings) { printer.Runs(c.stdout, r) })
		},
	}
	a.where(cmd)
	f := cmd.Flags()
	f.StringVar(&service, "service", "", "only this `SERVICE`")
	f.StringVar(&version, "version", "", "only this `VERSION`")
	f.StringVar(&from, "from", "", "`TIME` to begin at, like now-24h or 2006-01-02T15:04:05Z; all without")
	f.StringVar(&until, "until", "", "`TIME` to end at")
	f.IntVarP(&a.limit, "limit", "n", 30, "at most so many `LINES`")
	f.BoolVar(&a.json, "json", false, "print the answer as JSON")
	cmd.AddCommand(c.runsGetCommand(), c.runsPushCommand())
	return cmd
}

func (c *command) recordCommand() *cobra.Command {
	var a asking
	var version string
	cmd := &cobra.Command{
		Use:   "record SERVICE",
		Short: "Have an agent record a process of a service, soon",
		Long: `Has the next agent that asks, and that may, record one process of a service for some
seconds. Agents ask about once a minute, and keep to their budget. A token needs the scope
ingest.`,
		Example: "  gowhy-fleet record checkout\n  gowhy-fleet record checkout --version v1.5.0",
		Args:    one("service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := a.connect()
			if err != nil {
				return err
			}
			w, err := to.Wish(cmd.Context(), url.Values{"service": {args[0]}, "version": {version}})
			if err != nil {
				return err
			}
			printer.Wish(c.stdout, &w)
			return nil
		},
	}
	a.where(cmd)
	cmd.Flags().StringVar(&version, "version", "", "only this `VERSION`; any without")
	return cmd
}

func (c *command) runsGetCommand() *cobra.Command {
	var a asking
	var out string
	cmd := &cobra.Command{
		Use:     "get ID",
		Short:   "Fetch a recording into a file",
		Long:    "Fetches a recording into a file. The beginning of its ID is enough where no other begins so.",
		Example: "  gowhy-fleet runs get 1f0c8a3b52d7 -o checkout.gowhy",
		Args:    one("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.getRun(cmd, &a, args[0], out)
		},
	}
	a.where(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE`, which must not exist (default: the first characters of the ID)")
	return cmd
}

// listed is how many runs the beginning of an ID is looked for in.
const listed = 10_000

func (c *command) getRun(cmd *cobra.Command, a *asking, prefix, out string) error {
	from, err := a.connect()
	if err != nil {
		return err
	}
	var all api.Recordings
	if err := from.Ask(cmd.Context(), "runs", url.Values{"limit": {strconv.Itoa(listed)}}, &all); err != nil {
		return err
	}
	id, err := idOf(all.Runs, prefix)
	if err != nil {
		return err
	}
	if out == "" {
		out = id[:api.ShortID] + ".gowhy"
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError("gowhy-fleet runs get "+shell.Word(prefix)+" -o FILE", "%s is there already", out)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(from.Fetch(cmd.Context(), id, f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	fmt.Fprintf(c.stdout, "%s\n", layout.Safe(out))
	fmt.Fprintf(c.stderr, "hint: gowhy %[1]s, gowhy view %[1]s\n", shell.Word(out))
	return nil
}

// idOf returns the ID that begins so.
func idOf(all []api.Recording, prefix string) (id string, err error) {
	for _, r := range all {
		if len(prefix) < 4 || len(r.ID) <= api.ShortID || len(prefix) > len(r.ID) || r.ID[:len(prefix)] != prefix {
			continue
		}
		if id != "" && id != r.ID {
			return "", usageError("gowhy-fleet runs --json, for whole IDs", "several recordings begin with %q", prefix)
		}
		id = r.ID
	}
	if id == "" {
		return "", usageError("gowhy-fleet runs", "no recording begins with %q, of 4 characters or more", prefix)
	}
	return id, nil
}

func (c *command) runsPushCommand() *cobra.Command {
	var a asking
	var service, version, instance string
	cmd := &cobra.Command{
		Use:   "push FILE...",
		Short: "Send recordings to the server",
		Long: `Sends recordings that gowhy record made, or that a program made by itself at a bad moment
(agent.Watch writes them to its directory). What the server has already it keeps once. An
upload that breaks off goes on where it was, also when the command is run again within a
day.`,
		Example: `  gowhy-fleet runs push run.gowhy --service checkout --version v1.5.0
  gowhy-fleet runs push gowhy-events/*.gowhy --service checkout`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("gowhy-fleet runs push FILE --service NAME", "no file to send")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := a.connect()
			if err != nil {
				return err
			}
			q := url.Values{"service": {service}, "version": {version}, "instance": {instance}}
			for _, file := range args {
				r, err := to.Push(cmd.Context(), file, q)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				fmt.Fprintf(c.stdout, "%.*s  %s  %s\n", api.ShortID, layout.Safe(r.ID), layout.Safe(r.Service), layout.Safe(file))
			}
			return nil
		},
	}
	a.where(cmd)
	f := cmd.Flags()
	f.StringVar(&service, "service", "", "the `SERVICE` that it is of; its program's name without")
	f.StringVar(&version, "version", "", "the `VERSION`; what the recording says without")
	f.StringVar(&instance, "instance", "", "the `PROCESS`, like a host's name")
	return cmd
}
