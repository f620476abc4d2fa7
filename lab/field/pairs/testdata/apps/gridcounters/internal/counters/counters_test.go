package counters

import (
	"testing"

	"gridcounters/internal/sensor"
)

func TestCount(t *testing.T) {
	for _, apart := range []bool{false, true} {
		table := NewTable(3, apart)
		for i := range 30 {
			table.Count(i%3, sensor.Kind(i%2))
		}
		if table.All() != 30 || table.Sum(sensor.Voltage) != 15 || table.Sum(sensor.Alarm) != 0 {
			t.Errorf("apart %v: %d of %d, %d alarms", apart, table.Sum(sensor.Voltage), table.All(), table.Sum(sensor.Alarm))
		}
	}
}
