package cli

import (
	_ "embed"
	"fmt"
	"io"
	"runtime"
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
		Use:   "version",
		Short: "Print the version",
		Example: `  gowhy version
  gowhy version --licenses`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if notices {
				_, err := io.WriteString(c.Stdout, licenses)
				return err
			}
			_, err := io.WriteString(c.Stdout, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&notices, "licenses", false, "print the licences of all that is part of gowhy")
	return cmd
}

// versionLine returns the line that bug reports begin with.
func versionLine() string {
	return fmt.Sprintf("gowhy %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the module's, which the go command derives from the tag or commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
