package cli

import (
	"flag"
	"io"
)

// pprofFlags gives pprof its arguments as a set of flags that is ours alone, as
// it asks for.
type pprofFlags struct {
	set  flag.FlagSet
	args []string
}

func (p *pprofFlags) Bool(name string, def bool, usage string) *bool {
	return p.set.Bool(name, def, usage)
}
func (p *pprofFlags) Int(name string, def int, usage string) *int { return p.set.Int(name, def, usage) }
func (p *pprofFlags) Float64(name string, def float64, usage string) *float64 {
	return p.set.Float64(name, def, usage)
}
func (p *pprofFlags) String(name, def, usage string) *string { return p.set.String(name, def, usage) }

// StringList returns a flag that may be given more than once.
func (p *pprofFlags) StringList(name, def, usage string) *[]*string {
	list := &[]*string{}
	p.set.Func(name, usage, func(s string) error {
		*list = append(*list, &s)
		return nil
	})
	return list
}

func (p *pprofFlags) ExtraUsage() string   { return "" }
func (p *pprofFlags) AddExtraUsage(string) {}

// Parse returns what is left behind the flags.
func (p *pprofFlags) Parse(usage func()) []string {
	p.set.SetOutput(io.Discard)
	if p.set.Parse(p.args) != nil || p.set.NArg() == 0 {
		usage()
		return nil
	}
	return p.set.Args()
}
