package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gowhy/gowhy/internal/draw/export"
)

// A Starter starts another viewer of profiles.
//
// Such viewers keep settings, serve what they like and were not written to share
// an address with anything: they get an origin of their own, so that nothing they
// show can reach this page, and nobody calls their code here.
type Starter struct {
	// Format is the one of [export.All] that it reads.
	Format string
	// Most is how many of it run at a time.
	Most int
	// Hint says how to open a downloaded file when it does not start.
	Hint string
	// Start shows a file: it returns the address of a page and a channel that is
	// closed when the page has ended, which it does with ctx at the latest.
	Start func(ctx context.Context, file string) (address string, ended <-chan struct{}, err error)
}

// tools are the viewers that were started.
type tools struct {
	start map[string]Starter

	mu      sync.Mutex
	started map[viewerKey]viewer
}

// A viewerKey is what a viewer shows.
type viewerKey struct {
	tool    string
	view    *View
	profile export.Profile
}

type viewer struct {
	address string
	ended   <-chan struct{}
}

func (v viewer) alive() bool {
	select {
	case <-v.ended:
		return false
	default:
		return true
	}
}

// close waits for the viewers to end, which they do with the server's context.
func (t *tools) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.started {
		<-v.ended
	}
}

// openTool sends the browser to a viewer of a profile: GET
// tools/NAME?r=&profile=. It is started when it is first asked for.
func (s *Server) openTool(w http.ResponseWriter, r *http.Request, q url.Values, tool string) error {
	start, ok := s.tools.start[tool]
	if !ok {
		return missing("there is no viewer "+short(tool), "")
	}
	if r.Method != http.MethodGet {
		return nil
	}
	v, err := s.page.indexedRun(r.Context(), q, "r")
	if err != nil {
		return err
	}
	profile, err := v.toolProfile(q)
	if err != nil {
		return err
	}
	address, err := s.started(viewerKey{tool, v, profile}, start)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// toolProfile returns the profile that a query asks for, else the one that says most.
func (v *View) toolProfile(q url.Values) (export.Profile, error) {
	if p := export.Profile(q.Get("profile")); p != "" {
		if !slices.Contains(export.Profiles, p) {
			return "", misuse("profile=%s is none that there is", short(string(p)))
		}
		return p, nil
	}
	for _, p := range []export.Profile{export.CPU, export.Kernel, export.States, export.Allocs, export.Heap} {
		if !lacks(v, p) {
			return p, nil
		}
	}
	for _, p := range export.Profiles {
		if !lacks(v, p) {
			return p, nil
		}
	}
	return "", missing("this run has no profile", "")
}

// lacks reports whether a run cannot fill a profile. Writing one is the only
// sure way to know, and cheap beside what reads it next.
func lacks(v *View, p export.Profile) bool {
	return export.Pprof(discard{}, v.Model, export.Options{Profile: p}) != nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (s *Server) started(what viewerKey, start Starter) (string, error) {
	t := &s.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	running := 0
	for k, v := range t.started {
		switch {
		case !v.alive():
			delete(t.started, k)
		case k.tool == what.tool:
			running++
		}
	}
	if v, ok := t.started[what]; ok {
		return v.address, nil
	}
	if running >= start.Most {
		return "", refuse(http.StatusTooManyRequests, "end gowhy view and start it again", "%d viewers run already", running)
	}
	file, err := s.profileFile(what.view, what.profile, start.Format)
	if err != nil {
		return "", err
	}
	address, ended, err := start.Start(s.ctx, file)
	if err != nil {
		return "", refuse(http.StatusBadGateway, start.Hint, "the viewer did not start: %v", err)
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" || !loopbackName(u.Host) {
		return "", refuse(http.StatusBadGateway, "", "the viewer did not say where it is")
	}
	if t.started == nil {
		t.started = map[viewerKey]viewer{}
	}
	t.started[what] = viewer{address, ended}
	return address, nil
}

// profileFile writes a profile for a viewer, under a name that it can show: in a
// directory of its own, for two runs may have the same.
func (s *Server) profileFile(v *View, profile export.Profile, format string) (path string, err error) {
	i := slices.IndexFunc(export.All, func(f export.Format) bool { return f.Name == format })
	if i < 0 {
		return "", fmt.Errorf("no export has the format %q", format)
	}
	root, err := s.scratch()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(root, "profile-")
	if err != nil {
		return "", err
	}
	f, err := os.Create(filepath.Join(dir, safeFilename(strings.TrimSuffix(v.Name, filepath.Ext(v.Name))+"-"+string(profile)+export.All[i].Ext)))
	if err != nil {
		return "", err
	}
	err = export.All[i].Write(f, v.Model, export.Options{Profile: profile})
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}
