package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/ingest/scrape/relabel"
	"github.com/gowhy/gowhy/fleet/store"
)

// Labels that a target has while it is relabeled. Those that begin with __ are gone after
// it.
const (
	addressLabel = "__address__"
	schemeLabel  = "__scheme__"
	prefixLabel  = "__profile_path_prefix__"
	jobLabel     = "job"
	metaPrefix   = "__meta_" // of what only discovery knows
	fileLabel    = metaPrefix + "filepath"
	urlLabel     = metaPrefix + "url"
)

// relabel reads relabel_configs.
func (r *reader) relabel(n *yaml.Node) (rules []*relabel.Rule) {
	r.list(n, "relabel_configs", func(e *yaml.Node) {
		s := relabel.Defaults()
		before := len(r.problems)
		r.mapping(e, "relabel_configs", keys{
			"source_labels": r.texts(&s.SourceLabels, "source_labels"),
			"separator":     r.anyText(&s.Separator, "separator"),
			"regex":         r.anyText(&s.Regex, "regex"),
			"modulus":       r.number(&s.Modulus, "modulus"),
			"target_label":  r.text(&s.TargetLabel, "target_label"),
			"replacement":   r.anyText(&s.Replacement, "replacement"),
			"action":        func(n *yaml.Node) { s.Action = relabel.Action(strings.ToLower(r.scalar(n, "action"))) },
		})
		if len(r.problems) > before {
			return // which may be why the rule is not one
		}
		rule, err := s.Rule()
		if err != nil {
			r.problem(e, "relabel_configs: %v", err)
			return
		}
		rules = append(rules, rule)
	})
	return rules
}

// target returns one of a group, as the rules make it; false where they leave it out.
func (j *job) target(address string, group map[string]string) (scrape.Target, bool, error) {
	labels := map[string]string{jobLabel: j.Job, schemeLabel: j.Scheme, prefixLabel: j.Prefix}
	for name, value := range group {
		if value != "" {
			labels[name] = value
		}
	}
	labels[addressLabel] = address
	keep, err := relabel.Apply(j.Relabel, labels)
	if err != nil || !keep {
		return scrape.Target{}, false, err
	}
	address, scheme, prefix := labels[addressLabel], labels[schemeLabel], labels[prefixLabel]
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, "__") })
	switch err := checkTarget(address); {
	case err != nil:
		return scrape.Target{}, false, err
	case scheme != "http" && scheme != "https":
		return scrape.Target{}, false, fmt.Errorf("%s is %.40q, not http or https", schemeLabel, scheme)
	case !isPath(prefix):
		return scrape.Target{}, false, fmt.Errorf("%s is %.80q, not a path like /debug/pprof", prefixLabel, prefix)
	}
	source := j.source(address, labels)
	if len(source.Labels) > mostLabels {
		return scrape.Target{}, false, fmt.Errorf("%d labels after relabeling, at most %d are allowed", len(source.Labels), mostLabels)
	}
	return scrape.Target{
		Source: source, URL: scheme + "://" + address + prefix,
		Interval: j.Interval, CPU: j.CPU, Timeout: j.Timeout, Profiles: j.Profiles,
		Bearer: j.bearer, User: j.User, Password: j.password, TLS: j.tls,
	}, true, nil
}

// source returns a target's: labels say more exactly what its job and address say.
func (j *job) source(address string, labels map[string]string) store.Source {
	s := store.Source{
		Tenant: j.Tenant, Service: cmp.Or(labels["service_name"], labels[jobLabel], j.Job), Instance: cmp.Or(labels["instance"], address),
		Version: cmp.Or(labels["version"], labels["service_version"]),
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		// The job is the service, where no label says another.
		if name != "service_name" && (name != jobLabel || labels[name] != j.Job && labels[name] != s.Service) {
			s.Labels = append(s.Labels, store.Label{Name: name, Value: labels[name]})
		}
	}
	return s
}
