package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/read/modules"
)

// grace is how long the go command's own children may hold its output after its end.
const grace = time.Second

// An asker asks the go command, which knows the user's proxy, private modules and
// checksums. It does so in a directory of its own: no go.mod of the user's is
// read or changed.
type asker struct{ dir string }

// newest returns the newest release of a module with the source of both versions;
// nil when the one in use is the newest.
func (a asker) newest(ctx context.Context, m modules.Module) (*release, error) {
	// From go 1.17 on, what the module requires need not be asked for.
	mod := fmt.Sprintf("module gowhy.invalid/release\n\ngo 1.17\n\nrequire %s %s\n", m.Path, m.Version)
	if err := os.WriteFile(filepath.Join(a.dir, "go.mod"), []byte(mod), 0o600); err != nil {
		return nil, err
	}
	var listed struct {
		Update *struct{ Version string }
	}
	out, err := a.run(ctx, "list", "-m", "-u", "-json", m.Path)
	if err == nil {
		err = json.Unmarshal(out, &listed)
	}
	if err == nil && listed.Update != nil && !modules.IsVersion(listed.Update.Version) {
		err = fmt.Errorf("%q is no version", listed.Update.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot ask for newer versions of %s: %w", m.Path, err)
	}
	if listed.Update == nil {
		return nil, nil
	}
	r := &release{version: listed.Update.Version}
	if r.used, r.dir, err = a.sources(ctx, m, r.version); err != nil {
		return nil, fmt.Errorf("cannot compare %s %s with %s: %w", m.Path, m.Version, r.version, err)
	}
	return r, nil
}

// sources fetches two versions of a module and returns their directories.
func (a asker) sources(ctx context.Context, m modules.Module, newest string) (used, newer string, err error) {
	out, failed := a.run(ctx, "mod", "download", "-json", m.Path+"@"+m.Version, m.Path+"@"+newest)
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var got struct{ Version, Dir, Error string }
		if err := d.Decode(&got); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", "", err
		}
		if got.Error != "" {
			return "", "", errors.New(got.Error)
		}
		dirs[got.Version] = got.Dir
	}
	if failed != nil {
		return "", "", failed
	}
	used, newer = dirs[m.Version], dirs[newest]
	if used == "" || newer == "" {
		err = errors.New("the go command does not say where its source is")
	}
	return used, newer, err
}

// run returns what the go command prints, also when it fails.
func (a asker) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.WaitDelay = a.dir, grace
	// No toolchain is fetched and run because a module asks for it.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"), "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.New(reason(string(exit.Stderr), err))
	}
	return out, err
}

// reason returns the error in what the go command printed: its first line that is no
// progress, with the next ones as far as it ends in a colon.
func reason(stderr string, err error) string {
	var words []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "go: ")
		if line == "" || strings.HasPrefix(line, "downloading ") {
			continue
		}
		if words = append(words, line); !strings.HasSuffix(line, ":") {
			break
		}
	}
	if len(words) == 0 {
		return err.Error()
	}
	return strings.Join(words, " ")
}
