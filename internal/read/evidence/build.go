package evidence

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// maxBuildInfo bounds what `go version -m` printed: a program has at most a
// few thousand modules.
const maxBuildInfo = 4 << 20

// buildHeader is the first line of `go version -m` with what follows of a
// program with build info, or the first lines that debug.BuildInfo prints.
var buildHeader = regexp.MustCompile(`^(?:[^\n]+: (?:go|devel )[^\n]*\n\t(?:path|mod|dep|build)\t|go\t(?:go|devel )[^\n]*\n(?:path|mod|dep|build)\t)`)

func isBuildInfo(head []byte) bool { return buildHeader.Match(head) }

// readBuild reads what a program was built from, as `go version -m` prints it.
// Of several programs it takes the first.
func (l *loader) readBuild(s source) error {
	if err := l.take(model.BuildInfo, "build info", s.name); err != nil {
		return err
	}
	data, err := l.readAll(s, maxBuildInfo)
	if data == nil {
		return err
	}
	b, more := parseBuild(data)
	if more {
		l.note("%s tells of more than one program; the first was read", s.name)
	}
	l.m.Build = b
	return nil
}

func parseBuild(data []byte) (b *model.Build, more bool) {
	b = &model.Build{Settings: map[string]string{}}
	for i, line := range strings.Split(string(bytes.TrimRight(data, "\r\n")), "\n") {
		line = strings.TrimRight(line, "\r")
		if !strings.Contains(line, "\t") {
			if i > 0 {
				return b, true
			}
			_, b.Go, _ = cutLast(line, ": ")
			continue
		}
		f := strings.Split(strings.TrimPrefix(line, "\t"), "\t")
		switch {
		case len(f) < 2: // the text is cut
		case f[0] == "go":
			b.Go = f[1]
		case f[0] == "path":
			b.Path = f[1]
		case f[0] == "mod" && len(f) > 2:
			b.Module, b.Version = f[1], f[2]
		case f[0] == "build":
			key, value, _ := strings.Cut(f[1], "=")
			b.Settings[key] = unquoteSetting(value)
		}
	}
	return b, false
}

// unquoteSetting undoes the quotes that the go command puts around values with
// blanks or quotes in them.
func unquoteSetting(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

// withoutRecorder returns a program's environment without the lines that a recorder asks its
// runtime for: what it changed is not to be repeated, and who set them himself loses lines of
// a log.
func withoutRecorder(env []string) []string {
	out := slices.Clone(env)
	for i, e := range out {
		if value, ok := strings.CutPrefix(e, "GODEBUG="); ok {
			settings := slices.DeleteFunc(strings.Split(value, ","), func(s string) bool {
				return strings.HasPrefix(s, "gctrace=") || strings.HasPrefix(s, "schedtrace=")
			})
			out[i] = "GODEBUG=" + strings.Join(settings, ",")
		}
	}
	return slices.DeleteFunc(out, func(e string) bool { return e == "GODEBUG=" })
}

// environment keeps what a recording tells of the program's environment, as
// far as it concerns the runtime.
func (l *loader) environment(env []string) {
	for _, e := range env {
		key, value, ok := strings.Cut(e, "=")
		switch key {
		case "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT":
			if ok {
				if l.env == nil {
					l.env = map[string]string{}
				}
				l.env[key] = value
			}
		}
	}
}

// joinBuild adds the environment, and tells the Go version most precisely.
func (l *loader) joinBuild() {
	b := l.m.Build
	if b != nil {
		b.Environment = l.env
		b.Go = cmp.Or(b.Go, l.toolchain)
	} else if len(l.env) > 0 {
		l.m.Build = &model.Build{Go: l.toolchain, Environment: l.env}
		b = l.m.Build
	}
	if b != nil && b.Go != "" {
		l.m.Run.Go = b.Go
	} else if l.toolchain != "" {
		l.m.Run.Go = l.toolchain
	}
}
