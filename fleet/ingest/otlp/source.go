package otlp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// Attributes by which a profile gets its service, in the spelling of OpenTelemetry.
const (
	serviceName    = "service.name"
	executableName = "process.executable.name"
	// unknown is what OpenTelemetry calls a service without a name.
	unknown = "unknown_service"
)

// known are the attributes that say which process it is; they are kept before others.
// Profilers of hosts have them at the samples, those of one program at the resource.
var known = []string{serviceName, executableName, "service.version", "service.instance.id", "service.namespace",
	"host.name", "k8s.pod.name", "container.id", "process.pid"}

// whose are the same.
var whose = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range known {
		m[name] = true
	}
	return m
}()

// mostAttributes bounds those of a resource, of which [store.MostLabels] are kept.
const mostAttributes = 1000

// attributes are texts by name.
type attributes map[string]string

func (all attributes) add(a opentelemetry.Attribute) error {
	if len(all) == mostAttributes {
		return wrong(fmt.Errorf("%w: more than %d attributes of a resource", profiles.ErrLong, mostAttributes))
	}
	if a.Text != "" {
		all[a.Name] = a.Text
	}
	return nil
}

// sourceOf names the source of a sample, by the attributes of its resource and its own. What
// cannot be a label, like the command line of a program with many arguments, is left out, and
// what is more than a source may have.
func sourceOf(tenant string, resource attributes, own []opentelemetry.Attribute) (store.Source, error) {
	of := resource
	if len(own) > 0 {
		of = maps.Clone(resource)
		for _, a := range own {
			of[a.Name] = a.Text
		}
	}
	var labels []store.Label
	names := slices.Concat(known, slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(name string) bool { return whose[name] }))
	for _, name := range names {
		l := store.Label{Name: name, Value: of[name]}
		if name != serviceName && name != ingest.LabelService && l.Value != "" && ingest.CheckLabel(l) == nil && len(labels) < store.MostLabels-1 {
			labels = append(labels, l)
		}
	}
	service := store.Label{Name: ingest.LabelService, Value: unknown}
	for _, name := range []string{serviceName, ingest.LabelService, executableName} {
		if of[name] != "" {
			service.Value = of[name]
			break
		}
	}
	return ingest.SourceOf(tenant, append(labels, service))
}
