package diagnosis

import (
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	releasedMetric = "/memory/classes/heap/released:bytes"
	// muchReleased is the part of what the runtime mapped from which the account says that it
	// is given back: those who ask why so much is mapped see the difference nowhere else.
	muchReleased = 0.25
)

// moments are the metrics that describe a single moment, with their names.
var moments = []struct{ metric, name string }{
	{"/sched/goroutines:goroutines", "goroutines"},
	{"/memory/classes/heap/objects:bytes", "heap in use"},
	{"/gc/heap/goal:bytes", "heap at which the next collection ends"},
	{"/memory/classes/total:bytes", "mapped by the runtime"},
	{releasedMetric, "of it given back to the system"},
	{model.ScrapedResident, "resident"},
	{model.ScrapedFiles, "open files"},
	{model.ScrapedThreads, "threads"},
	{"/gc/cycles/total:gc-cycles", "collections since the start"},
	{model.ScrapedCPU, "CPU time since the start"},
}

// metricsAccount lists what the runtime's metrics say of a single moment. Of a log of them
// rules say more.
func metricsAccount(p fact.Meter) *Account {
	m := p.Model.Metrics
	a := &Account{}
	for _, x := range moments {
		if len(m.Series[x.metric]) > 1 {
			return nil
		}
		if _, ok := m.Last(x.metric); !ok {
			continue
		}
		row := AccountRow{Name: x.name, Value: p.Metric(x.name, x.metric, fact.Last)}
		if x.metric == model.ScrapedFiles {
			row.Share = ratio(row.Value.Value, p.Metric("files that it may open", model.ScrapedMaxFiles, fact.Last).Value)
			row.Note = "of the files that it may open"
		}
		if x.metric == releasedMetric {
			row.Share = ratio(row.Value.Value, p.Metric("mapped by the runtime", "/memory/classes/total:bytes", fact.Last).Value)
		}
		a.Rows = append(a.Rows, row)
	}
	if len(a.Rows) == 0 {
		return nil
	}
	a.Text = fact.Sentence("One moment of the runtime's metrics: %s %s", a.Rows[0].Value, fact.Name(a.Rows[0].Name))
	if len(a.Rows) > 1 {
		a.Text += fact.Sentence(", %s %s", a.Rows[1].Value, fact.Name(a.Rows[1].Name))
	}
	a.Text += "." + givenBack(p)
	return a
}

// givenBack says that much of what the runtime mapped is no memory that it has.
func givenBack(p fact.Meter) string {
	const total = "/memory/classes/total:bytes"
	if _, known := p.Model.Metrics.Last(releasedMetric); !known {
		return ""
	}
	released, mapped := p.Metric("given back", releasedMetric, fact.Last), p.Metric("mapped by the runtime", total, fact.Last)
	if mapped.Value <= 0 || released.Value < muchReleased*mapped.Value || released.Value > mapped.Value {
		return ""
	}
	return fact.Sentence(" Of %s got from the system %s are given back already: the runtime keeps %s.", mapped, released,
		fact.Difference.Of("kept", fact.Bytes, mapped, released))
}
