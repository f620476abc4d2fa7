// Package identity is which service a Go program is, and of which version.
//
// It hides where programs say so: variables of their environment, the name of their
// file, and what the linker wrote into it.
package identity

import (
	"path/filepath"
	"runtime/debug"
	"strings"
)

// variables name a service, the first that is set.
var variables = []string{"GOWHY_SERVICE", "OTEL_SERVICE_NAME"}

// Service returns the name in an environment of NAME=VALUE, or else that of the program's file.
func Service(environ []string, exe string) string {
	for _, name := range variables {
		for _, e := range environ {
			if value, ok := strings.CutPrefix(e, name+"="); ok && value != "" {
				return value
			}
		}
	}
	if exe == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(filepath.ToSlash(exe)), ".exe")
}

// shortRevision is how much of a revision tells it from others.
const shortRevision = 12

// Version returns that of the main module, or else the revision it was built from; "" when
// the program does not say.
func Version(b *debug.BuildInfo) string {
	if b == nil {
		return ""
	}
	if v := b.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), shortRevision)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}
