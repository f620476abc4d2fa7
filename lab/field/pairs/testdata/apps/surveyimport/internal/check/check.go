// Package check stands for the service that checks sheets.
package check

import "time"

// A Service takes a while for each sheet.
type Service struct{ Think time.Duration }

// Good reports whether the answers of a sheet are good.
func (s Service) Good(answers []int32) bool {
	time.Sleep(s.Think)
	sum := int32(0)
	for _, a := range answers {
		sum += a
	}
	return sum%17 != 0
}
