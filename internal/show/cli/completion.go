package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (c *command) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for " + strings.Join(shells, ", "),
		Example: `  source <(gowhy completion bash)
  gowhy completion zsh > "${fpath[1]}/_gowhy"
  gowhy completion fish > ~/.config/fish/completions/gowhy.fish`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("gowhy completion bash", "completion takes the name of a shell")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(c.Stdout)
			case "fish":
				return root.GenFishCompletion(c.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.Stdout)
			}
			return usageError("gowhy completion "+problem.Nearest(args[0], shells), "%q is none of %s", args[0], strings.Join(shells, ", "))
		},
	}
}
