package model

// What a scrape of Prometheus' text format tells of the process beside the runtime's
// metrics: [Metrics] has it under these names, at the one moment.
const (
	ScrapedThreads  = "go_threads"
	ScrapedCPU      = "process_cpu_seconds_total"
	ScrapedResident = "process_resident_memory_bytes"
	ScrapedFiles    = "process_open_fds"
	ScrapedMaxFiles = "process_max_fds"
)
