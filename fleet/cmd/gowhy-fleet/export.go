package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A format is one that profiles are exported in.
type format struct {
	question string // of the API
	file     string // where --out says none
	hint     string // what reads it, up to the file and after it; "" for nothing
	after    string
}

var formats = map[string]format{
	"pprof":     {"pprof", "profile.pb.gz", "go tool pprof -top ", ""},
	"folded":    {"folded", "profile.folded", "", ""},
	"otlp":      {"otlp", "profiles.otlp", "curl -H 'Content-Type: application/x-protobuf' --data-binary @", " http://COLLECTOR:4318/v1development/profiles"},
	"otlp-json": {"otlp.json", "profiles.otlp.json", "curl -H 'Content-Type: application/json' --data-binary @", " http://COLLECTOR:4318/v1development/profiles"},
}

func (c *command) exportCommand() *cobra.Command {
	var a asking
	var version, instance, kind, name, out string
	cmd := &cobra.Command{
		Use:   "export SERVICE",
		Short: "Save the profiles of a service for other tools: pprof, folded stacks, OpenTelemetry",
		Long: `Saves the summed profiles of a service in the format of another tool. pprof and folded
have one type, CPU where --type names none; otlp and otlp-json are a request of OTLP
profiles (v1development v0.4.0) with all types and versions, for a Collector or a server.`,
		Example: "  gowhy-fleet export checkout -o cpu.pb.gz\n  gowhy-fleet export checkout --format otlp --from now-24h",
		Args:    one("service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, ok := formats[name]
			if !ok {
				return usageError("--format "+strings.Join(slices.Sorted(maps.Keys(formats)), ", "), "there is no format %q", name)
			}
			q := a.values()
			q.Set("service", args[0])
			q.Set("version", version)
			q.Set("instance", instance)
			q.Set("type", kind)
			return c.save(cmd, &a, f.question, q, cmp.Or(out, f.file), f.hint, f.after)
		},
	}
	a.flags(cmd, 1)
	for _, unused := range []string{"limit", "json"} {
		_ = cmd.Flags().MarkHidden(unused)
	}
	f := cmd.Flags()
	f.StringVar(&name, "format", "pprof", "`FORMAT`: pprof, folded, otlp or otlp-json")
	f.StringVar(&version, "version", "", "only this `VERSION`")
	f.StringVar(&instance, "instance", "", "only this `PROCESS`")
	f.StringVar(&kind, "type", "", "only this `TYPE` of profile: cpu, alloc_space, alloc_objects, inuse_space, goroutines, mutex_delay, block_delay")
	f.StringVarP(&out, "out", "o", "", "`FILE` to write, - for standard output; else profile.pb.gz, profile.folded, profiles.otlp or profiles.otlp.json")
	return cmd
}
