// Package ingest moves readings from the gateway into the lake.
package ingest

import (
	"encoding/json"
	"fmt"

	"fleetlake/internal/lake"
	"fleetlake/internal/telemetry"
)

// A Job takes readings in.
type Job struct {
	from  *telemetry.Gateway
	table *lake.Table
	last  map[int]int64 // the odometers
}

// NewJob returns a job.
func NewJob(from *telemetry.Gateway, table *lake.Table) *Job {
	return &Job{from: from, table: table, last: map[int]int64{}}
}

// Run takes n readings in.
func (j *Job) Run(n int) error {
	for i := range n {
		line, err := j.from.Next()
		if err != nil {
			return err
		}
		var r telemetry.Reading
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("reading %d: %w", i, err)
		}
		if r.Odo < j.last[r.Vehicle] {
			return fmt.Errorf("reading %d: vehicle %d goes backwards", i, r.Vehicle)
		}
		driven := r.Odo - j.last[r.Vehicle]
		j.last[r.Vehicle] = r.Odo
		row := lake.Row{Vehicle: int64(r.Vehicle), At: r.At.Unix(), Speed: int64(r.Speed * 10), Fuel: int64(r.Fuel * 10), Driven: driven}
		p := lake.Partition{Region: r.Region, Day: r.At.Format("2006-01-02")}
		if err := j.table.Write(p, row); err != nil {
			return err
		}
	}
	return j.table.Close()
}
