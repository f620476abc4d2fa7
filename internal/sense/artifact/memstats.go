package artifact

import "slices"

// A MemMetric is a metric of runtime/metrics as fields of runtime.MemStats tell it.
type MemMetric struct {
	Name        string // of runtime/metrics
	Plus, Minus string // fields; Minus may be empty
}

// MemMetrics are all of them. Mallocs count tiny objects one by one, the metric does not.
var MemMetrics = []MemMetric{
	{"/gc/heap/allocs:bytes", "TotalAlloc", ""},
	{"/gc/heap/allocs:objects", "Mallocs", ""},
	{"/gc/heap/frees:objects", "Frees", ""},
	{"/gc/heap/goal:bytes", "NextGC", ""},
	{"/gc/cycles/total:gc-cycles", "NumGC", ""},
	{"/gc/cycles/forced:gc-cycles", "NumForcedGC", ""},
	{"/memory/classes/heap/objects:bytes", "HeapAlloc", ""},
	{"/memory/classes/heap/unused:bytes", "HeapInuse", "HeapAlloc"},
	{"/memory/classes/heap/free:bytes", "HeapIdle", "HeapReleased"},
	{"/memory/classes/heap/released:bytes", "HeapReleased", ""},
	{"/memory/classes/heap/stacks:bytes", "StackInuse", ""},
	{"/memory/classes/metadata/mspan/inuse:bytes", "MSpanInuse", ""},
	{"/memory/classes/metadata/mspan/free:bytes", "MSpanSys", "MSpanInuse"},
	{"/memory/classes/metadata/mcache/inuse:bytes", "MCacheInuse", ""},
	{"/memory/classes/metadata/mcache/free:bytes", "MCacheSys", "MCacheInuse"},
	{"/memory/classes/metadata/other:bytes", "GCSys", ""},
	{"/memory/classes/profiling/buckets:bytes", "BuckHashSys", ""},
	{"/memory/classes/os-stacks:bytes", "StackSys", "StackInuse"},
	{"/memory/classes/other:bytes", "OtherSys", ""},
	{"/memory/classes/total:bytes", "Sys", ""},
}

// Value returns the metric's value by the fields that are known, and whether they tell it.
// Fields that were not read in one moment may contradict each other: it is never below 0.
func (m MemMetric) Value(fields map[string]float64) (value float64, ok bool) {
	value, ok = fields[m.Plus]
	if m.Minus != "" {
		less, also := fields[m.Minus]
		value, ok = value-less, ok && also
	}
	return max(0, value), ok
}

// MemField reports whether a metric needs a field of runtime.MemStats.
func MemField(name string) bool {
	return name != "" && slices.ContainsFunc(MemMetrics, func(m MemMetric) bool { return m.Plus == name || m.Minus == name })
}
