package join

import (
	"slices"
	"testing"
	"time"

	"adattribution/internal/bus"
	"adattribution/internal/report"
)

func TestOperator(t *testing.T) {
	var want []string
	for _, idle := range []time.Duration{0, time.Second} {
		topic := bus.NewTopic(bus.Config{Rate: 100, Speed: 60, Partitions: 6, Regions: []string{"eu", "us", "ap"}})
		campaigns := report.NewCampaigns()
		o := NewOperator(NewClock(6, idle), 30*time.Second, campaigns.Add)
		now := time.Unix(0, 0)
		for range 3000 {
			now = now.Add(10 * time.Millisecond)
			for _, r := range topic.Next() {
				if err := o.Process(r.Partition, r.Value, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := campaigns.Best(20)
		if o.Joined() < 100 || o.Orphans() != 0 {
			t.Errorf("idle after %v: %d joined, %d not", idle, o.Joined(), o.Orphans())
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("idle after %v: %q, want %q", idle, got, want)
		}
	}
}
