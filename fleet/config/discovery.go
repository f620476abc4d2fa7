package config

import (
	"cmp"
	"crypto/tls"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/store"
)

// A Discovery knows the targets of scrape configs, as their files are now.
type Discovery struct {
	mu   sync.Mutex
	jobs []*job
}

// A job is a scrape config and what its files held when they could be read.
type job struct {
	Scrape
	groups           map[string][]Group
	bearer, password string
	tls              *tls.Config
}

// Discovery is a new one, which has read nothing yet.
func (c *Config) Discovery() *Discovery {
	d := &Discovery{}
	for _, s := range c.Scrapes {
		d.jobs = append(d.jobs, &job{Scrape: s, groups: map[string][]Group{}, password: s.Password})
	}
	return d
}

// Targets reads the files and gives all targets. A file that cannot be read is an error
// beside them, and counts as it was before; one that is gone has no targets.
func (d *Discovery) Targets() ([]scrape.Target, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []scrape.Target
	var failed []error
	for _, j := range d.jobs {
		failed = append(failed, j.secrets(), j.files())
		all = append(all, j.targets()...)
	}
	return all, errors.Join(failed...)
}

// secrets reads what the job shows to its targets.
func (j *job) secrets() error {
	var failed error
	read := func(to *string, file string) {
		if file == "" {
			return
		}
		secret, err := secretOf(file)
		if err != nil {
			failed = errors.Join(failed, err)
			return
		}
		*to = secret
	}
	read(&j.bearer, j.BearerFile)
	read(&j.password, j.PasswordFile)
	if j.TLS != nil {
		c, err := j.TLS.config()
		if err != nil {
			return errors.Join(failed, err)
		}
		j.tls = c
	}
	return failed
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

func (j *job) targets() (all []scrape.Target) {
	every := slices.Clone(j.Static)
	for _, name := range slices.Sorted(maps.Keys(j.groups)) {
		every = append(every, j.groups[name]...)
	}
	for _, g := range every {
		for _, address := range g.Targets {
			all = append(all, scrape.Target{
				Source: j.source(address, g.Labels), URL: j.Scheme + "://" + address + j.Prefix,
				Interval: j.Interval, CPU: j.CPU, Timeout: j.Timeout, Profiles: j.Profiles,
				Bearer: j.bearer, User: j.User, Password: j.password, TLS: j.tls,
			})
		}
	}
	return all
}

// source is a target's: labels say more exactly what its job and address say.
func (j *job) source(address string, labels map[string]string) store.Source {
	s := store.Source{
		Tenant: j.Tenant, Service: cmp.Or(labels["service_name"], j.Job), Instance: cmp.Or(labels["instance"], address),
		Version: cmp.Or(labels["version"], labels["service_version"]),
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != "service_name" {
			s.Labels = append(s.Labels, store.Label{Name: name, Value: labels[name]})
		}
	}
	return s
}
