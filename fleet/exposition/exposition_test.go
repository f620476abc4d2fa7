package exposition

import (
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	var b strings.Builder
	Counter(&b, "requests_total", "Requests.").Int(12_345_678)
	g := Gauge(&b, "up", "Whether it is up.")
	g.Int(1, "url", "a\"b\\c\nd\xff", "tenant", "")
	g.Float(0.25)
	h := Histogram(&b, "seconds", "Time.")
	h.Part("_bucket").Int(3, "le", "+Inf")
	h.Part("_sum").Float(1.5)
	want := `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total 12345678
# HELP up Whether it is up.
# TYPE up gauge
up{url="a\"b\\c\nd` + "\uFFFD" + `",tenant=""} 1
up 0.25
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="+Inf"} 3
seconds_sum 1.5
`
	if got := b.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
