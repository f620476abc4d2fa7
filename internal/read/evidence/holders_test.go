package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// TestHoldersReachModel: the looks of a recording, and of the file alone, are in the model, with
// the growth between them.
func TestHoldersReachModel(t *testing.T) {
	look := func(after time.Duration, bytes uint64) *model.HeapLook {
		return &model.HeapLook{Time: begin.Add(after), Reached: model.ObjectSum{Objects: 2, Bytes: bytes},
			Holders: []model.Holder{{Kind: model.HeldByVariable, Name: "main.cache", ObjectSum: model.ObjectSum{Objects: 2, Bytes: bytes}}}}
	}
	text := artifact.HoldersJSON(look(0, 100), look(2*time.Second, 300))
	file := filepath.Join(t.TempDir(), "holders.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*model.Model{
		"recording": loadRecording(t, map[string][]byte{recording.HoldersMember: text}),
		"file":      load(t, Options{}, file),
	} {
		l := m.Run.Holders
		if len(l) != 2 || !m.Has(model.Holders) || l[1].Over != 2*time.Second || *l[1].Holders[0].Grew != 200 || m.Run.Duration != 2*time.Second {
			t.Errorf("%s: %+v in %v, want two looks 2 s apart with a growth of 200", name, l, m.Run.Duration)
		}
	}
	nameless := look(0, 100)
	nameless.Nameless = true
	for name, one := range map[string]*model.HeapLook{"with names": look(0, 100), "without": nameless} {
		notes := strings.Join(loadRecording(t, map[string][]byte{recording.HoldersMember: artifact.HoldersJSON(one)}).Run.Coverage.Notes, "\n")
		if strings.Contains(notes, "go tool nm") != one.Nameless {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
	if m := loadRecording(t, map[string][]byte{recording.HoldersMember: []byte(strings.Replace(string(text), `"looks"`, `"lo"`, 1)), recording.BuildMember: []byte("p: go1.26.8\n\tpath\texample.com/p\n")}); m.Has(model.Holders) {
		t.Error("a file without a look is read")
	}
}
