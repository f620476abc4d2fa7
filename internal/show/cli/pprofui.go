package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/show/web"
)

// pprofTool is what the page calls pprof's own page.
const pprofTool = "pprof"

// viewers returns the other viewers that a page can open.
func viewers() map[string]web.Starter {
	return map[string]web.Starter{
		pprofTool: {Format: "pprof", Most: 8, Start: startPprof, Hint: "download the profile, then: go tool pprof -http=: FILE"},
	}
}

// otherTools returns the viewers that the page offers.
func otherTools() []web.Tool {
	return []web.Tool{{Name: pprofTool}}
}

// pprofCommand makes this process pprof's own page for one file. It is not for
// people: pprof's package keeps its settings in variables of the process and in
// the user's configuration, so that it cannot be a guest in another's.
//
// The address goes to standard output, and the process ends with its standard
// input, which its parent holds.
func (c *command) pprofCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "pprof-page FILE",
		Short:  "Serve pprof's own page for a profile",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := os.MkdirTemp("", "gowhy-pprof-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(home)
			for _, v := range []string{"HOME", "XDG_CONFIG_HOME", "PPROF_TMPDIR", "AppData"} {
				os.Setenv(v, home)
			}
			done := make(chan error, 2)
			go func() {
				_, err := io.Copy(io.Discard, c.Stdin)
				done <- err
			}()
			go func() { done <- c.servePprof(args[0]) }()
			select {
			case err := <-done:
				return err
			case <-cmd.Context().Done():
				return nil
			}
		},
	}
}

func (c *command) servePprof(file string) error {
	return driver.PProf(&driver.Options{
		Flagset:       &pprofFlags{args: []string{"-http=127.0.0.1:0", "-no_browser", "-symbolize=none", file}},
		UI:            silentUI{},
		HTTPTransport: nowhere{},
		HTTPServer:    func(a *driver.HTTPServerArgs) error { return c.listenPprof(a.Handlers) },
	})
}

// listenPprof serves pprof's pages under a secret path of a port of their own.
// Its settings would be lost with the process: nothing that writes them is there.
func (c *command) listenPprof(pages map[string]http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	prefix := "/t/" + hex.EncodeToString(token)
	mux := http.NewServeMux()
	for path, page := range pages {
		if !strings.HasSuffix(path, "config") {
			mux.Handle(prefix+path, http.StripPrefix(prefix, exactly(path, page)))
		}
	}
	if _, err := fmt.Fprintf(c.Stdout, "http://%s%s/\n", l.Addr(), prefix); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &http.Server{Handler: web.LocalOnly(mux), ReadHeaderTimeout: 10 * time.Second}
	return s.Serve(l)
}

// exactly keeps the page of the root from answering for all that is not there.
func exactly(path string, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// startPprof starts this program as pprof's page.
func startPprof(ctx context.Context, file string) (address string, ended <-chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "pprof-page", file)
	// Never written to: it ends when its input does, and that does with us.
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	cmd.Cancel = in.Close
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(io.LimitReader(out, 4<<10)).ReadString('\n')
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = cmd.Wait() // that it ended is all that matters
	}()
	if err != nil {
		<-over
		return "", nil, errors.New("it ended at once")
	}
	return strings.TrimSpace(line), over, nil
}

// silentUI is nobody: what pprof says is for its command line.
type silentUI struct{}

func (silentUI) ReadLine(string) (string, error)     { return "", io.EOF }
func (silentUI) Print(...any)                        {}
func (silentUI) PrintErr(...any)                     {}
func (silentUI) IsTerminal() bool                    { return false }
func (silentUI) WantBrowser() bool                   { return false }
func (silentUI) SetAutoComplete(func(string) string) {}

// nowhere keeps pprof off the network: a profile can name places to fetch
// symbols from.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nothing is fetched from here")
}
