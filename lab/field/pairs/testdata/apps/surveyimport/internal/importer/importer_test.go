package importer

import "testing"

// even takes sheets whose first answers are even.
type even struct{}

func (even) Good(answers []int32) bool { return answers[1]%2 == 0 }

func TestImport(t *testing.T) {
	for _, early := range []bool{false, true} {
		i := Importer{Checker: even{}, AtOnce: 3, Early: early}
		if n, err := i.Import(Source{Sheets: 10, Answers: 4}); err != nil || n != 6 {
			t.Errorf("early %v: %d, %v; want 6", early, n, err)
		}
	}
	if _, err := (&Importer{}).Import(Source{}); err == nil {
		t.Error("nothing can be checked, and is")
	}
}
