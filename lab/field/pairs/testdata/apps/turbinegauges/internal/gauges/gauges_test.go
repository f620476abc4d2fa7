package gauges

import "testing"

func TestReport(t *testing.T) {
	var reports []string
	for _, copies := range []bool{false, true} {
		table := NewTable(3, copies)
		table.Set(1, Reading{Turns: 7})
		text, err := table.Report()
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, string(text))
	}
	if reports[0] != reports[1] {
		t.Errorf("the reports are\n%s\nand\n%s", reports[0], reports[1])
	}
}
