package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/ingest/scrape/httpsd"
	"github.com/gowhy/gowhy/fleet/ingest/scrape/relabel"
)

// A Scrape is a job of scrape_configs.
type Scrape struct {
	Job                    string // the service, where no label says another
	Tenant                 string
	Interval, CPU, Timeout time.Duration
	Scheme, Prefix         string
	Profiles               []string
	Credentials
	Static  []Group
	Files   []string // patterns of files of groups
	HTTP    []HTTPDiscovery
	Relabel []*relabel.Rule
}

// HTTPDiscovery is a URL that lists groups.
type HTTPDiscovery struct {
	URL      string
	Interval time.Duration
	Credentials
}

// A Group is targets that have the same labels.
type Group struct {
	Targets []string
	Labels  map[string]string
}

// Keys that Prometheus has and this does not, with what helps.
var refused = map[string]string{
	"metric_relabel_configs": "profiles have no series to relabel",
	"kubernetes_sd_configs":  "write the targets to a file and name it in file_sd_configs, or serve them to http_sd_configs",
	"dns_sd_configs":         "write the targets to a file and name it in file_sd_configs, or serve them to http_sd_configs",
	"consul_sd_configs":      "write the targets to a file and name it in file_sd_configs, or serve them to http_sd_configs",
	"authorization":          "use bearer_token_file or basic_auth",
	"bearer_token":           "write it to a file and name it in bearer_token_file",
	"metrics_path":           "write profiling_config: {path_prefix: /debug/pprof}",
	"follow_redirects":       "redirects are never followed",
	"refresh_interval":       "files are read again every minute",
}

// unsupported reads the keys that are refused, in a mapping that has others.
func (r *reader) unsupported(known keys) keys {
	all := maps.Clone(known)
	for key, help := range refused {
		if all[key] == nil {
			all[key] = func(n *yaml.Node) { r.problem(n, "%s is not supported: %s", key, help) }
		}
	}
	return all
}

// mostLabels is what a source may have.
const mostLabels = 30

// kinds are the profiles that can be asked for.
var kinds = []string{"process_cpu", "memory", "mutex", "block", "goroutines"}

func (r *reader) scrapes(n *yaml.Node) (all []Scrape) {
	names := map[string]bool{}
	r.list(n, "scrape_configs", func(e *yaml.Node) {
		s := r.scrape(e)
		if names[s.Job] {
			r.problem(e, "two scrape_configs have the job_name %q", s.Job)
		}
		names[s.Job] = true
		all = append(all, s)
	})
	return all
}

func (r *reader) scrape(n *yaml.Node) Scrape {
	s := Scrape{Interval: scrape.DefaultInterval, Timeout: scrape.DefaultTimeout, Scheme: "http", Prefix: "/debug/pprof"}
	var seconds int64
	known := keys{
		"job_name":        func(n *yaml.Node) { s.Job = r.scalar(n, "job_name") },
		"tenant":          func(n *yaml.Node) { s.Tenant = r.name(n, "tenant") },
		"scrape_interval": r.duration(&s.Interval, "scrape_interval"),
		"scrape_timeout":  r.duration(&s.Timeout, "scrape_timeout"),
		"scheme":          r.oneOf(&s.Scheme, "scheme", "http", "https"),
		"profiling_config": func(n *yaml.Node) {
			r.mapping(n, "profiling_config", keys{
				"cpu_seconds": r.number(&seconds, "cpu_seconds"),
				"path_prefix": func(n *yaml.Node) {
					s.Prefix = r.scalar(n, "path_prefix")
					if !isPath(s.Prefix) {
						r.problem(n, "path_prefix is %q, not a path like /debug/pprof", s.Prefix)
					}
				},
				"profiles": func(n *yaml.Node) {
					r.texts(&s.Profiles, "profiles")(n)
					for _, p := range s.Profiles {
						if !slices.Contains(kinds, p) {
							r.problem(n, "there is no profile %q, only %s", p, strings.Join(kinds, ", "))
						}
					}
				},
			})
		},
		"static_configs": func(n *yaml.Node) {
			r.list(n, "static_configs", func(e *yaml.Node) { s.Static = append(s.Static, r.group(e)) })
		},
		"file_sd_configs": func(n *yaml.Node) {
			r.list(n, "file_sd_configs", func(e *yaml.Node) {
				r.mapping(e, "file_sd_configs", r.unsupported(keys{"files": func(n *yaml.Node) { s.Files = append(s.Files, r.patterns(n)...) }}))
			})
		},
		"http_sd_configs": func(n *yaml.Node) {
			r.list(n, "http_sd_configs", func(e *yaml.Node) { s.HTTP = append(s.HTTP, r.httpDiscovery(e)) })
		},
		"relabel_configs": func(n *yaml.Node) { s.Relabel = r.relabel(n) },
	}
	maps.Copy(known, r.credentials(&s.Credentials))
	r.mapping(n, "a scrape config", r.unsupported(known))
	s.CPU = time.Duration(seconds) * time.Second
	if seconds == 0 {
		s.CPU = max(time.Second, s.Interval/6)
	}
	switch {
	case s.Job == "":
		r.problem(n, "a scrape config has no job_name")
	case s.Interval < time.Second:
		r.problem(n, "scrape_interval of %q is %v, shorter than a second", s.Job, s.Interval)
	case s.CPU > s.Interval:
		r.problem(n, "cpu_seconds of %q are %v, longer than its scrape_interval of %v", s.Job, s.CPU, s.Interval)
	case s.User != "" && s.BearerFile != "":
		r.problem(n, "%q has basic_auth and bearer_token_file: one of them is sent", s.Job)
	case len(s.Static) == 0 && len(s.Files) == 0 && len(s.HTTP) == 0:
		r.problem(n, "%q has no targets: give it static_configs, file_sd_configs or http_sd_configs", s.Job)
	}
	return s
}

// httpDiscovery reads an element of http_sd_configs.
func (r *reader) httpDiscovery(n *yaml.Node) HTTPDiscovery {
	h := HTTPDiscovery{Interval: httpsd.DefaultInterval}
	known := r.credentials(&h.Credentials)
	known["url"] = func(n *yaml.Node) {
		h.URL = r.scalar(n, "url")
		u, err := url.Parse(h.URL)
		if h.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "") {
			r.problem(n, "url is %q, not a URL like https://targets.example/shop.json", h.URL)
		}
	}
	known["refresh_interval"] = r.duration(&h.Interval, "refresh_interval")
	r.mapping(n, "http_sd_configs", r.unsupported(known))
	switch {
	case h.URL == "":
		r.problem(n, "an element of http_sd_configs has no url")
	case h.Interval < time.Second:
		r.problem(n, "refresh_interval of %q is %v, shorter than a second", h.URL, h.Interval)
	case h.User != "" && h.BearerFile != "":
		r.problem(n, "%q has basic_auth and bearer_token_file: one of them is sent", h.URL)
	}
	return h
}

// patterns returns those of files of targets.
func (r *reader) patterns(n *yaml.Node) (all []string) {
	r.list(n, "files", func(e *yaml.Node) {
		pattern := r.scalar(e, "a file")
		_, err := filepath.Match(pattern, "")
		switch ext := filepath.Ext(pattern); {
		case pattern == "":
		case err != nil || ext != ".json" && ext != ".yml" && ext != ".yaml":
			r.problem(e, "%q is not a pattern of files that end in .json, .yml or .yaml", pattern)
		default:
			all = append(all, r.relative(pattern))
		}
	})
	return all
}

func (r *reader) group(n *yaml.Node) Group {
	g := Group{Labels: map[string]string{}}
	r.mapping(n, "a group of targets", keys{
		"targets": func(n *yaml.Node) {
			r.list(n, "targets", func(e *yaml.Node) {
				target := r.scalar(e, "a target")
				if target == "" {
					return
				}
				if err := checkTarget(target); err != nil {
					r.problem(e, "%v", err)
				}
				g.Targets = append(g.Targets, target)
			})
		},
		"labels": func(n *yaml.Node) {
			r.pairs(n, "labels", func(key, value *yaml.Node) {
				g.Labels[r.scalar(key, "a label")] = r.scalar(value, "label "+key.Value)
			})
			if err := checkLabels(g.Labels); err != nil {
				r.problem(n, "%v", err)
			}
		},
	})
	return g
}

func isPath(s string) bool { return strings.HasPrefix(s, "/") && !strings.ContainsAny(s, "?#") }

func checkTarget(target string) error {
	u, err := url.Parse("http://" + target)
	if err != nil || u.Host != target || u.Hostname() == "" {
		return fmt.Errorf("target %.80q is not a HOST:PORT like shop-1:6060", target)
	}
	if _, _, err := net.SplitHostPort(target); err != nil && strings.Contains(target, ":") {
		return fmt.Errorf("target %.80q is not a HOST:PORT like shop-1:6060", target)
	}
	return nil
}

func checkLabels(labels map[string]string) error {
	if len(labels) > mostLabels {
		return fmt.Errorf("%d labels, at most %d are allowed", len(labels), mostLabels)
	}
	for name := range labels {
		if strings.HasPrefix(name, "__") && !strings.HasPrefix(name, metaPrefix) && name != schemeLabel && name != prefixLabel {
			return fmt.Errorf("label %q: of names that begin with __ only %s, %s and %s… mean something here", name, schemeLabel, prefixLabel, metaPrefix)
		}
	}
	return nil
}

// groups reads a file of targets.
func groups(file string) ([]Group, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(file) == ".json" {
		var compact bytes.Buffer // JSON may have tabs where YAML may not
		if err := json.Compact(&compact, text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		text = compact.Bytes()
	}
	r := &reader{file: file}
	var all []Group
	if root := r.document(text); root != nil {
		r.list(root, "the file", func(e *yaml.Node) { all = append(all, r.group(e)) })
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return all, nil
}
