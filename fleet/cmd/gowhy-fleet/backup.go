package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/backup"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

func (c *command) backupCommand() *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that a server keeps to one file",
		Long: `Asks a running server for all that it keeps, of all tenants: profiles, findings and
recordings. All that was acknowledged before is in it, and the server goes on meanwhile.
Where there are tokens it needs one with the scope admin. - is standard output.`,
		Example: "  gowhy-fleet backup fleet.tar\n  gowhy-fleet restore --data ./gowhy-data fleet.tar",
		Args:    one("file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.backup(cmd, &a, args[0]) },
	}
	a.where(cmd)
	return cmd
}

func (c *command) backup(cmd *cobra.Command, a *asking, out string) error {
	from, err := a.connect()
	if err != nil {
		return err
	}
	if out == "-" {
		contents, err := from.Backup(cmd.Context(), c.stdout)
		if err == nil {
			fmt.Fprintf(c.stderr, "gowhy-fleet: %s\n", contentsOf(contents))
		}
		return err
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError("gowhy-fleet backup FILE, which is not there yet", "%s is there already", out)
	}
	if err != nil {
		return err
	}
	contents, err := from.Backup(cmd.Context(), f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	fmt.Fprintf(c.stdout, "%s: %s\n", layout.Safe(out), contentsOf(contents))
	fmt.Fprintf(c.stderr, "hint: gowhy-fleet restore --data DIR %s\n", shell.Word(out))
	return nil
}

func contentsOf(c backup.Contents) string {
	return figures.Plural(c.Files, "file") + ", " + figures.Bytes(float64(c.Bytes))
}

func (c *command) restoreCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "restore FILE --data DIR",
		Short: "Make a directory for a server of a backup",
		Long: `Makes a directory of what gowhy-fleet backup wrote, for gowhy-fleet serve --data. It is
made whole or not at all: every file is compared with the backup's list. - is standard
input.`,
		Example: "  gowhy-fleet restore --data ./gowhy-data fleet.tar\n  ssh host gowhy-fleet backup - | gowhy-fleet restore --data ./gowhy-data -",
		Args:    one("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			if data == "" {
				return usageError("gowhy-fleet restore --data ./gowhy-data FILE", "restore wants --data, a directory that is empty or not there yet")
			}
			in := io.Reader(os.Stdin)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			contents, err := backup.Restore(data, in)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "%s: %s\n", layout.Safe(data), contentsOf(contents))
			fmt.Fprintf(c.stderr, "hint: gowhy-fleet serve --data %s\n", shell.Word(data))
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "make this `DIR`, which is empty or not there yet")
	return cmd
}
