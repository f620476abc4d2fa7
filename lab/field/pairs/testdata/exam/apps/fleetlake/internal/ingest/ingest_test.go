package ingest

import (
	"testing"

	"fleetlake/internal/lake"
	"fleetlake/internal/telemetry"
)

func TestRun(t *testing.T) {
	var want lake.Stats
	for _, roll := range []lake.Roll{lake.OnChange, lake.OnRows} {
		table, err := lake.Open(t.TempDir(), lake.Layout{Rows: 500, Roll: roll})
		if err != nil {
			t.Fatal(err)
		}
		if err := NewJob(telemetry.NewGateway(20), table).Run(5000); err != nil {
			t.Fatal(err)
		}
		got := table.Stats()
		if want == (lake.Stats{}) {
			want = got
		}
		if got.Rows != 5000 || got.Partitions != want.Partitions || got.Partitions < 8 {
			t.Errorf("%s: %+v, want %+v", roll, got, want)
		}
	}
	if _, err := lake.Open(t.TempDir(), lake.Layout{Rows: 1, Roll: "never"}); err == nil {
		t.Error("a roll that there is not was taken")
	}
}
