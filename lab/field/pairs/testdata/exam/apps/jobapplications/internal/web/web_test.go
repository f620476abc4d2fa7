package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"jobapplications/internal/applicants"
	"jobapplications/internal/intake"
	"jobapplications/internal/settings"
)

func TestAnswersDoNotDependOnRoom(t *testing.T) {
	form, kind := applicants.Form(3)
	var answers []string
	for _, room := range []int{4096, 4 << 20} {
		s := settings.Default()
		s.FormMemory = room
		r := httptest.NewRequest("POST", "/applications", bytes.NewReader(form))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		Routes(s, intake.NewRegister(10)).ServeHTTP(w, r)
		if w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
		answers = append(answers, w.Body.String())
	}
	if answers[0] != answers[1] {
		t.Errorf("%s\n%s", answers[0], answers[1])
	}
}
