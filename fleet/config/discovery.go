package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/gowhy/gowhy/fleet/exposition"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/ingest/scrape/httpsd"
)

// A Discovery knows the targets of scrape configs, as their files are now and as the URLs
// that list some said last.
type Discovery struct {
	mu   sync.Mutex
	jobs []*job
}

// A job is a scrape config and what its files held when they could be read.
type job struct {
	Scrape
	secrets
	groups map[string][]Group // by file
	lists  []list
}

// A list is one of a URL.
type list struct {
	HTTPDiscovery
	*httpsd.Source
}

// Discovery returns a new one, which has read nothing yet. It shares the lists of the one before
// it, which may be nil, where their URLs and credentials are the same.
func (c *Config) Discovery(before *Discovery) *Discovery {
	d := &Discovery{}
	for _, s := range c.Scrapes {
		j := &job{Scrape: s, groups: map[string][]Group{}}
		for _, h := range s.HTTP {
			j.lists = append(j.lists, list{h, cmp.Or(before.source(s.Job, h), newSource(h))})
		}
		d.jobs = append(d.jobs, j)
	}
	return d
}

func newSource(h HTTPDiscovery) *httpsd.Source {
	return httpsd.New(h.URL, h.Interval, func() (httpsd.Credentials, error) {
		now, err := h.secrets(secrets{})
		return httpsd.Credentials{Bearer: now.bearer, User: h.User, Password: now.password, TLS: now.tls}, err
	})
}

// source returns that of the same URL of the same job, nil where there is none.
func (d *Discovery) source(job string, h HTTPDiscovery) *httpsd.Source {
	if d == nil {
		return nil
	}
	for _, j := range d.jobs {
		for _, l := range j.lists {
			if j.Job == job && reflect.DeepEqual(l.HTTPDiscovery, h) {
				return l.Source
			}
		}
	}
	return nil
}

// Run asks the URLs that list targets until the context ends. It calls changed, from
// several goroutines, when Targets may give others, and with an error when a URL gave no
// list and what it said before counts.
func (d *Discovery) Run(ctx context.Context, changed func(error)) {
	var running sync.WaitGroup
	for _, j := range d.jobs {
		for _, l := range j.lists {
			running.Go(func() {
				l.Run(ctx, func(err error) {
					if err != nil {
						err = fmt.Errorf("job %q: %w", j.Job, err)
					}
					changed(err)
				})
			})
		}
	}
	running.Wait()
}

// Metrics writes what came of the URLs as Prometheus reads it. It names no URL, whose
// query may be secret.
func (d *Discovery) Metrics(w io.Writer) {
	d.write(exposition.Counter(w, "gowhy_fleet_http_sd_failures_total", "Requests of http_sd_configs that gave no list."),
		func(l list) int64 { return l.Failures() })
	d.write(exposition.Gauge(w, "gowhy_fleet_http_sd_targets", "Targets that http_sd_configs listed last, before relabeling."), func(l list) (n int64) {
		for _, g := range l.Groups() {
			n += int64(len(g.Targets))
		}
		return n
	})
}

// write writes a line for each job, with the sum over its lists.
func (d *Discovery) write(to exposition.Metric, of func(list) int64) {
	for _, j := range d.jobs {
		if len(j.lists) == 0 {
			continue
		}
		sum := int64(0)
		for _, l := range j.lists {
			sum += of(l)
		}
		to.Int(sum, "job", j.Job)
	}
}

// Targets reads the files and gives all targets. A file that cannot be read is an error
// beside them, and counts as it was before; one that is gone has no targets. A target that
// is none after relabeling is an error too, and left out.
func (d *Discovery) Targets() ([]scrape.Target, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []scrape.Target
	var failed []error
	for _, j := range d.jobs {
		now, unread := j.Credentials.secrets(j.secrets)
		j.secrets = now
		failed = append(failed, unread, j.files())
		targets, bad := j.targets()
		failed = append(failed, bad)
		all = append(all, targets...)
	}
	return all, errors.Join(failed...)
}

// files reads the groups of the files that there are.
func (j *job) files() error {
	var failed error
	now := map[string][]Group{}
	for _, pattern := range j.Files {
		names, err := filepath.Glob(pattern)
		failed = errors.Join(failed, err)
		for _, name := range names {
			g, err := groups(name)
			if err != nil {
				failed = errors.Join(failed, err)
				g = j.groups[name]
			}
			now[name] = g
		}
	}
	j.groups = now
	return failed
}

// targets returns those of all groups. A target that cannot be one is left out, and the error
// has the first of these.
func (j *job) targets() (all []scrape.Target, failed error) {
	bad := 0
	add := func(targets []string, labels map[string]string) {
		for _, address := range targets {
			t, keep, err := j.target(address, labels)
			switch {
			case err != nil:
				if bad++; bad == 1 {
					failed = fmt.Errorf("a target %.80q of job %q: %w", address, j.Job, err)
				}
			case keep:
				all = append(all, t)
			}
		}
	}
	with := func(labels map[string]string, name, value string) map[string]string {
		labels = maps.Clone(labels)
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = value
		return labels
	}
	for _, g := range j.Static {
		add(g.Targets, g.Labels)
	}
	for _, name := range slices.Sorted(maps.Keys(j.groups)) {
		for _, g := range j.groups[name] {
			add(g.Targets, with(g.Labels, fileLabel, name))
		}
	}
	for _, l := range j.lists {
		for _, g := range l.Groups() {
			add(g.Targets, with(g.Labels, urlLabel, l.URL))
		}
	}
	if bad > 1 {
		failed = fmt.Errorf("%w; and %d more of its targets", failed, bad-1)
	}
	return all, failed
}
