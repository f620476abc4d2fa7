package report

import (
	"context"
	"testing"

	"reportdeadline/internal/sales"
)

func TestForecast(t *testing.T) {
	m := Maker{Sales: sales.Generate(100)}
	if lines, err := m.forecast(t.Context(), 3); err != nil || len(lines) != 3 || lines[0].Expect <= 0 {
		t.Errorf("forecast() = %v, %v; want three weeks", lines, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	m.Heed = true
	if _, err := m.forecast(gone, 3); err == nil {
		t.Error("somebody was waited for who had gone")
	}
}
