package premium

import "testing"

func TestMonthly(t *testing.T) {
	table := NewTable()
	young, old := table.Monthly(Terms{30, 10, 1000}), table.Monthly(Terms{70, 10, 1000})
	if young <= 0 || young >= old {
		t.Errorf("the young pay %.2f, the old %.2f", young, old)
	}
}
