package verify

import (
	"testing"

	"nightlycheck/internal/archive"
)

func TestRun(t *testing.T) {
	a := archive.New(10, 10)
	one, err := Run(a, 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := Run(a, 4)
	if err != nil || one != many || one.Files != 100 || one.Different != 1 {
		t.Errorf("by one %v, by many %v, %v; want a hundred files, one of them different", one, many, err)
	}
	if _, err := Run(a, 0); err == nil {
		t.Error("nobody worked")
	}
}
