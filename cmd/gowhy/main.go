// Command gowhy says why a Go program is slow or costly, from what the program
// recorded about itself.
package main

import (
	"os"

	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/show/cli"
)

func main() { os.Exit(cli.Main(cli.Options{Rules: rules.All})) }
