package payroll

import (
	"testing"

	"orgcharts/internal/chart"
)

func TestCompany(t *testing.T) {
	top := chart.Line(30)
	top.Below = append(top.Below, chart.Line(5))
	down, deep := Run{}.Company(top, 4), Run{Deep: true}.Company(top, 4)
	if down == 0 || down != deep {
		t.Errorf("down %d, deep %d", down, deep)
	}
}
