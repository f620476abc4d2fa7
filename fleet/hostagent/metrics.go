package hostagent

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
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

// missed notes a recording that was wanted and not made.
func (c *counters) missed(why string) {
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
	one := func(kind, name, help string, n int64) {
		fmt.Fprintf(w, "# HELP gowhy_agent_%[2]s %[3]s\n# TYPE gowhy_agent_%[2]s %[1]s\ngowhy_agent_%[2]s %[4]d\n", kind, name, help, n)
	}
	one("gauge", "programs", "Go programs that run.", c.programs.Load())
	one("gauge", "not_visible", "Processes that may not be looked into.", c.unseen.Load())
	one("gauge", "scraped_programs", "Programs that it asks over net/http/pprof.", c.scraped.Load())
	one("gauge", "spool_bytes", "What waits for the server.", c.spooled.Load())
	one("counter", "samples_total", "CPU profiles taken from the kernel's side.", c.samples.Load())
	one("counter", "samples_idle_total", "Of these, those of programs that did not run.", c.idle.Load())
	one("counter", "samples_refused_total", "Samples that the kernel refused.", c.refused.Load())
	one("counter", "scrapes_total", "Profiles that programs answered with.", c.scrapes.Load())
	one("counter", "sent_total", "Profiles that the server took.", c.sent.Load())
	one("counter", "rejected_total", "Profiles that the server refused.", c.rejected.Load())
	one("counter", "retries_total", "Attempts that failed and are made again.", c.retries.Load())
	one("counter", "dropped_total", "Profiles dropped because the spool was full.", c.dropped.Load())
	one("counter", "broken_total", "Profiles that could not be written.", c.broken.Load())
	one("counter", "scan_errors_total", "Scans of the host that failed.", c.scanErrors.Load())
	one("counter", "moments_total", "Recordings that were uploaded.", c.moments.Load())
	one("counter", "moment_errors_total", "Recordings that the server refused.", c.momentErrors.Load())
	one("counter", "recordings_total", "Recordings that the server asked for and took.", c.recordings.Load())
	one("counter", "recordings_refused_total", "Recordings that the server asked for and did not take.", c.recordingsRefused.Load())
	one("counter", "recording_errors_total", "Programs that could not be recorded, and questions that the server did not answer.", c.recordingErrors.Load())
	io.WriteString(w, "# HELP gowhy_agent_skipped_total What was left out, and why: beyond the budget, too many programs for the sessions, or what else kept a recording that the server wanted.\n# TYPE gowhy_agent_skipped_total counter\n")
	for _, s := range []struct {
		what, why string
		n         *atomic.Int64
	}{{"sample", "budget", &c.skippedBudget}, {"sample", "slots", &c.skippedSlots}, {"scrape", "budget", &c.skippedFetch}} {
		fmt.Fprintf(w, "gowhy_agent_skipped_total{what=%q,why=%q} %d\n", s.what, s.why, s.n.Load())
	}
	for i, why := range reasons {
		fmt.Fprintf(w, "gowhy_agent_skipped_total{what=\"recording\",why=%q} %d\n", why, c.notRecorded[i].Load())
	}
	fmt.Fprintf(w, "# HELP gowhy_agent_host_share Share of the host that all of it took in the last minute.\n# TYPE gowhy_agent_host_share gauge\ngowhy_agent_host_share %g\n", float64(a.share.Load())/1e9)
	fmt.Fprintf(w, "# HELP gowhy_agent_budget_share Share that it may take.\n# TYPE gowhy_agent_budget_share gauge\ngowhy_agent_budget_share %g\n", a.o.Budget)
}
