package subject

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// versions returns what makes the go command build with the modules and the Go of b, and not with those
// that go.mod has: an environment beside env, and flags. The user's go.mod is not touched, one that says
// otherwise lies in scratch.
func (b BuildSpec) versions(ctx context.Context, dir, scratch string, env []string) (more, flags []string, err error) {
	if b.Go != "" {
		more = append(more, "GOTOOLCHAIN=go"+b.Go)
	}
	if b.Alone || len(b.Modules) > 0 {
		more = append(more, "GOWORK=off")
	}
	if len(b.Modules) == 0 {
		return more, nil, nil
	}
	env = slices.Concat(env, more)
	own, err := run(ctx, dir, env, "go", "env", "GOMOD")
	if err != nil {
		return nil, nil, err
	}
	if own = strings.TrimSpace(own); own == "" || own == os.DevNull {
		return nil, nil, problem.New(problem.Misuse, "go mod init", "%s is in no module: there is nothing to upgrade", orDot(b.Package))
	}
	other := filepath.Join(scratch, "go.mod")
	if err := copyFile(own, other); err != nil {
		return nil, nil, err
	}
	sums := filepath.Join(filepath.Dir(own), "go.sum")
	if isFile(sums) {
		if err := copyFile(sums, filepath.Join(scratch, "go.sum")); err != nil {
			return nil, nil, err
		}
	}
	if _, err := run(ctx, dir, env, "go", append([]string{"get", "-modfile=" + other}, b.Modules...)...); err != nil {
		return nil, nil, err
	}
	return more, []string{"-modfile=" + other, "-mod=mod"}, nil
}

// with returns what is newer than in go.mod, as the end of a phrase.
func (b BuildSpec) with() string {
	newer := slices.Clone(b.Modules)
	if b.Go != "" {
		newer = append(newer, "Go "+b.Go)
	}
	if len(newer) == 0 {
		return ""
	}
	return " with " + printable(strings.Join(newer, " and "))
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// Differing returns what two binaries were built with that differs, as "golang.org/x/text v0.3.0 → v0.14.0":
// the release of Go and modules, and how many defaults of GODEBUG, which follow the go line of go.mod.
func Differing(a, b string) (list []string, err error) {
	x, err := buildinfo.ReadFile(a)
	if err != nil {
		return nil, err
	}
	y, err := buildinfo.ReadFile(b)
	if err != nil {
		return nil, err
	}
	return differing(x, y), nil
}

// differing is [Differing] of what the binaries say of themselves.
func differing(x, y *buildinfo.BuildInfo) (list []string) {
	before, after := builtWith(x), builtWith(y)
	for _, name := range keysOf(before, after) {
		if old, fresh := before[name], after[name]; old != fresh {
			list = append(list, fmt.Sprintf("%s %s → %s", printable(name), printable(orNone(old)), printable(orNone(fresh))))
		}
	}
	if x.GoVersion != y.GoVersion { // a newer Go has more settings, which keep what the go line asks for
		return list
	}
	n := 0
	old, fresh := defaults(x), defaults(y)
	for _, name := range keysOf(old, fresh) {
		if old[name] != fresh[name] {
			n++
		}
	}
	if n > 0 {
		list = append(list, figures.Plural(n, "default")+" of GODEBUG, by the go line of go.mod")
	}
	return list
}

// defaults returns the settings of GODEBUG that a binary has by itself.
func defaults(info *buildinfo.BuildInfo) map[string]string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		if s.Key != "DefaultGODEBUG" {
			continue
		}
		for kv := range strings.SplitSeq(s.Value, ",") {
			name, value, _ := strings.Cut(kv, "=")
			settings[name] = value
		}
	}
	return settings
}

// builtWith returns what a binary was built with, by name.
func builtWith(info *buildinfo.BuildInfo) map[string]string {
	with := map[string]string{"Go": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		with[m.Path] = m.Version
		if m.Replace != nil {
			with[m.Path] = strings.TrimSpace(m.Replace.Path + " " + m.Replace.Version)
		}
	}
	return with
}

func keysOf(maps ...map[string]string) (keys []string) {
	for _, m := range maps {
		for name := range m {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
