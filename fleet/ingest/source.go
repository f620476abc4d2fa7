package ingest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// LabelService is the label that every source has.
	LabelService = "service_name"

	labelKind      = "__name__"
	labelScope     = "otel.scope." // which library sent it: not part of a process
	labelInvisible = "__"
)

// Labels that become fields of a source: the first that is there.
var (
	versionLabels  = []string{"version", "service_version", "service.version", "service_git_ref"}
	instanceLabels = []string{"instance", "pod", "k8s.pod.name", "hostname", "host.name", "host"}
	// Several processes of a service can share a host.
	processLabels = []string{"service.instance.id", "container", "container.id", "process.pid", "process_pid", "pid"}
)

// SourceOf names the source of what came with labels.
func SourceOf(tenant string, labels []store.Label) (store.Source, error) {
	s := store.Source{Tenant: tenant}
	if len(labels) > store.MostLabels {
		return s, refuse(http.StatusBadRequest, "%d labels, at most %d are allowed", len(labels), store.MostLabels)
	}
	values := map[string]string{}
	for _, l := range labels {
		l = store.Label{Name: strings.ToValidUTF8(l.Name, "\uFFFD"), Value: strings.ToValidUTF8(l.Value, "\uFFFD")}
		if err := CheckLabel(l); err != nil {
			return s, err
		}
		if _, twice := values[l.Name]; twice {
			return s, refuse(http.StatusBadRequest, "label %q is there twice", l.Name)
		}
		values[l.Name] = l.Value
		if l.Name != LabelService && !strings.HasPrefix(l.Name, labelInvisible) && !strings.HasPrefix(l.Name, labelScope) {
			s.Labels = append(s.Labels, l)
		}
	}
	slices.SortFunc(s.Labels, func(a, b store.Label) int { return cmp.Compare(a.Name, b.Name) })
	s.Service = values[LabelService]
	if s.Service == "" {
		return s, refuse(http.StatusBadRequest, "the profile has no service: label %s is missing", LabelService)
	}
	s.Version = first(values, versionLabels)
	s.Instance = first(values, instanceLabels)
	if process := first(values, processLabels); process == s.Instance || strings.HasPrefix(process, s.Instance+"/") {
		s.Instance = process // which names its host already
	} else if process != "" {
		s.Instance = strings.TrimPrefix(s.Instance+"/"+process, "/")
	}
	return s, nil
}

func first(values map[string]string, names []string) string {
	for _, n := range names {
		if v := values[n]; v != "" {
			return v
		}
	}
	return ""
}

// CheckLabel refuses a label that is too long, or no text.
func CheckLabel(l store.Label) error {
	switch {
	case l.Name == "" || len(l.Name) > store.LongestName || len(l.Value) > store.LongestValue:
		return refuse(http.StatusBadRequest, "label %.40q: a name has 1 to %d bytes and a value at most %d", l.Name, store.LongestName, store.LongestValue)
	case !printable(l.Name) || !printable(l.Value):
		return refuse(http.StatusBadRequest, "label %.40q has bytes that are no text", l.Name)
	}
	return nil
}

// printable is false for what could steer a terminal.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// appOf reads a name of the older protocol: app{label=value,...}.
func appOf(name string) ([]store.Label, error) {
	app, rest, braces := strings.Cut(name, "{")
	labels := []store.Label{{Name: LabelService, Value: strings.TrimSpace(app)}}
	if !braces {
		return labels, nil
	}
	rest, closed := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !closed {
		return nil, refuse(http.StatusBadRequest, "name %.80q has no closing brace", name)
	}
	for pair := range strings.SplitSeq(rest, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok || len(labels) > store.MostLabels {
			return nil, refuse(http.StatusBadRequest, "name %.80q: a label has no value, or there are more than %d", name, store.MostLabels)
		}
		l := store.Label{Name: strings.TrimSpace(key), Value: strings.Trim(strings.TrimSpace(value), `"`)}
		if l.Name == LabelService { // more specific than the app's name
			labels[0] = l
			continue
		}
		labels = append(labels, l)
	}
	return labels, nil
}

// typed names the profiles of a decoded one.
func typed(kind string, p *profiles.Profile) ([]store.Profile, error) {
	if kind == "" {
		if kind = guess(p.Types); kind == "" {
			return nil, refuse(http.StatusUnprocessableEntity, "the kind of the profile is unknown: send __name__ or sample_type_config")
		}
	}
	var all []store.Profile
	for i, t := range p.Types {
		name, err := TypeOf(kind, t, p.Period)
		if err != nil {
			return nil, err
		}
		if len(p.Samples[i]) > 0 {
			all = append(all, store.Profile{Type: name, Samples: p.Samples[i]})
		}
	}
	return all, nil
}

// TypeOf returns the type of a kind of profile.
func TypeOf(kind string, sample, period profiles.ValueType) (store.Type, error) {
	parts := []string{kind, sample.Name, sample.Unit, period.Name, period.Unit}
	for _, part := range parts {
		if len(part) > store.LongestName || !printable(part) || strings.Contains(part, ":") {
			return "", refuse(http.StatusUnprocessableEntity, "type %.40q has bytes that a type cannot have", part)
		}
	}
	return store.Type(strings.Join(parts, ":")), nil
}

// guess returns the kind of a profile by its sample types. Contentions and delays are of
// mutexes and of blocking alike: that kind stays unknown.
func guess(types []profiles.ValueType) string {
	for _, t := range types {
		if kind := KindOf(t.Name); kind != "" {
			return kind
		}
	}
	return ""
}

// KindOf returns the kind that a sample type belongs to, in the spelling of pprof or of an
// SDK's configuration; "" when it is not known.
func KindOf(sampleType string) string {
	switch {
	case sampleType == "cpu":
		return "process_cpu"
	case strings.HasPrefix(sampleType, "alloc_"), strings.HasPrefix(sampleType, "inuse_"):
		return "memory"
	case strings.HasPrefix(sampleType, "mutex_"):
		return "mutex"
	case strings.HasPrefix(sampleType, "block_"):
		return "block"
	case sampleType == "goroutine", sampleType == "goroutines":
		return "goroutines"
	case strings.HasPrefix(sampleType, "goroutine"):
		return "goroutine_leak"
	case sampleType == "wall":
		return "wall"
	}
	return ""
}
