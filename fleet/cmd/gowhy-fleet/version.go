package main

import (
	_ "embed"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// licenses are the notices of what others wrote and is part of the binary: linked by
// Go, or built into the page. `go run ./bench/dist -licenses` writes them.
//
//go:embed licenses.txt
var licenses string

func (c *command) versionCommand() *cobra.Command {
	var notices bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  gowhy-fleet version\n  gowhy-fleet version --licenses",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if notices {
				_, err := io.WriteString(c.stdout, licenses)
				return err
			}
			_, err := fmt.Fprintf(c.stdout, "gowhy-fleet %s\n", version())
			return err
		},
	}
	cmd.Flags().BoolVar(&notices, "licenses", false, "print the licences of all that is part of gowhy-fleet")
	return cmd
}

// version describes the build of this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return info.Main.Version + " " + info.GoVersion
}
