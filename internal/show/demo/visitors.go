package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/prove/subject"
)

// visitors is the source of a program that is built where it is shown. It is a test, because
// tests record themselves: nobody needs rights to see where its time goes.
//
//go:embed _visitors
var visitors embed.FS

// visitorsModule is its go.mod: with one in its directory it could not be embedded. Its Go is the
// first that counts, for of a newer one the go command would fetch the toolchain.
const visitorsModule = "module visitors\n\ngo 1.20\n"

// OwnModule has the go command see the module of a case alone, and no workspace or flags that the
// user has for others, until undo is called.
func OwnModule() (undo func()) {
	var undos []func()
	for name, value := range map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod"} {
		old, had := os.LookupEnv(name)
		os.Setenv(name, value)
		undos = append(undos, func() {
			if had {
				os.Setenv(name, old)
			} else {
				os.Unsetenv(name)
			}
		})
	}
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}

// Build writes the source of a case's program into a directory, builds it there, and returns the
// command that runs it. The error says so where there is no go command.
func (c Case) Build(ctx context.Context, dir string) (command []string, err error) {
	if err := subject.FindGo(); err != nil {
		return nil, err
	}
	source, err := fs.Sub(visitors, "_visitors")
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, source); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(visitorsModule), 0o600); err != nil {
		return nil, err
	}
	spec := subject.BuildSpec{Dir: dir, Test: true, Out: filepath.Join(dir, "visitors.test"),
		Flags: []string{"-trimpath=false"}} // so that samples name files where they are
	binary, err := subject.BuildRevision(ctx, spec)
	if err != nil {
		return nil, err
	}
	return []string{binary, "-test.run=TestDistinct", fmt.Sprintf("--work=%d", c.work)}, nil
}

// countVisitors builds the program in a directory of its own and runs it.
func countVisitors(ctx context.Context, p *program) error {
	defer OwnModule()()
	dir, err := os.MkdirTemp("", "gowhy-demo-") // from memory, programs may not be allowed to run
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	command, err := Case{work: p.work}.Build(ctx, dir)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if p.Fixed {
		command = append(command, "--fixed")
	}
	p.began = time.Now()
	said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}
