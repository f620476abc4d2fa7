package hostagent

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/gowhy/gowhy/fleet/exposition"
)

// counters are what an agent did, and what it left out.
type counters struct {
	programs, unseen, scraped, spooled atomic.Int64 // now

	samples, idle, refused, scrapes           atomic.Int64
	sent, rejected, retries, dropped, broken  atomic.Int64
	scanErrors, moments, momentErrors         atomic.Int64
	skippedBudget, skippedSlots, skippedFetch atomic.Int64

	recordings, recordingsRefused, recordingErrors atomic.Int64
	notRecorded                                    [len(reasons)]atomic.Int64 // what the server wanted
}

// reasons are why what the server wanted was not recorded.
var reasons = [...]string{overHost, overBytes, overDisk, overProgram, notRecorded}

// noteMissed notes a recording that was wanted and not made.
func (c *counters) noteMissed(why string) {
	if i := slices.Index(reasons[:], why); i >= 0 {
		c.notRecorded[i].Add(1)
	}
}

// words returns a line of the log.
func (c *counters) words(a *Agent) []any {
	missed := int64(0)
	for i := range c.notRecorded {
		missed += c.notRecorded[i].Load()
	}
	return []any{
		"recordings", c.recordings.Load(), "recordings_left_out", missed, "programs", c.programs.Load(), "not_visible", c.unseen.Load(), "scraped", c.scraped.Load(),
		"samples", c.samples.Load(), "cannot_sample", c.refused.Load(), "sent", c.sent.Load(), "rejected", c.rejected.Load(),
		"waiting_bytes", c.spooled.Load(), "dropped", c.dropped.Load(),
		"left_out_for_budget", c.skippedBudget.Load() + c.skippedFetch.Load(), "left_out_for_slots", c.skippedSlots.Load(),
		"host_percent", fmt.Sprintf("%.3f", float64(a.share.Load())/1e7), "budget_percent", fmt.Sprintf("%.3f", 100*a.o.Budget),
	}
}

// write writes all of it as Prometheus reads it.
func (c *counters) write(w http.ResponseWriter, a *Agent) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	counter := func(name, help string) exposition.Metric { return exposition.Counter(w, "gowhy_agent_"+name, help) }
	gauge := func(name, help string) exposition.Metric { return exposition.Gauge(w, "gowhy_agent_"+name, help) }
	gauge("programs", "Go programs that run.").Int(c.programs.Load())
	gauge("not_visible", "Processes that may not be looked into.").Int(c.unseen.Load())
	gauge("scraped_programs", "Programs that it asks over net/http/pprof.").Int(c.scraped.Load())
	gauge("spool_bytes", "What waits for the server.").Int(c.spooled.Load())
	counter("samples_total", "CPU profiles taken from the kernel's side.").Int(c.samples.Load())
	counter("samples_idle_total", "Of these, those of programs that did not run.").Int(c.idle.Load())
	counter("samples_refused_total", "Samples that the kernel refused.").Int(c.refused.Load())
	counter("scrapes_total", "Profiles that programs answered with.").Int(c.scrapes.Load())
	counter("sent_total", "Profiles that the server took.").Int(c.sent.Load())
	counter("rejected_total", "Profiles that the server refused.").Int(c.rejected.Load())
	counter("retries_total", "Attempts that failed and are made again.").Int(c.retries.Load())
	counter("dropped_total", "Profiles dropped because the spool was full.").Int(c.dropped.Load())
	counter("broken_total", "Profiles that could not be written.").Int(c.broken.Load())
	counter("scan_errors_total", "Scans of the host that failed.").Int(c.scanErrors.Load())
	counter("moments_total", "Recordings that were uploaded.").Int(c.moments.Load())
	counter("moment_errors_total", "Recordings that the server refused.").Int(c.momentErrors.Load())
	counter("recordings_total", "Recordings that the server asked for and took.").Int(c.recordings.Load())
	counter("recordings_refused_total", "Recordings that the server asked for and did not take.").Int(c.recordingsRefused.Load())
	counter("recording_errors_total", "Programs that could not be recorded, and questions that the server did not answer.").Int(c.recordingErrors.Load())
	skipped := counter("skipped_total", "What was left out, and why: beyond the budget, too many programs for the sessions, "+
		"or what else kept a recording that the server wanted.")
	for _, s := range []struct {
		what, why string
		n         *atomic.Int64
	}{{"sample", "budget", &c.skippedBudget}, {"sample", "slots", &c.skippedSlots}, {"scrape", "budget", &c.skippedFetch}} {
		skipped.Int(s.n.Load(), "what", s.what, "why", s.why)
	}
	for i, why := range reasons {
		skipped.Int(c.notRecorded[i].Load(), "what", "recording", "why", why)
	}
	gauge("host_share", "Share of the host that all of it took in the last minute.").Float(float64(a.share.Load()) / 1e9)
	gauge("budget_share", "Share that it may take.").Float(a.o.Budget)
}
