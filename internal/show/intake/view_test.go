package intake

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gowhy/gowhy/internal/show/web"
)

// The page writes a run's own address into its tools: no other run may have them.
func TestRunsShareNoTools(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gc.log")
	line := "gc 1 @0.019s 2%: 0.01+0.50+0.01 ms clock, 0.02+0.10/0.40/0.10+0.02 ms cpu, 4->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	if err := os.WriteFile(file, []byte(line), 0o666); err != nil {
		t.Fatal(err)
	}
	r := &Reader{Tools: []web.Tool{{Name: "pprof"}}}
	var views []*web.View
	for range 2 {
		v, err := r.Open(t.Context(), web.RunFiles{Name: "run", Files: []string{file}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, v)
	}
	views[1].Tools[0].Path = "tools/pprof?r=1"
	if got := views[0].Tools[0].Path; got != "" {
		t.Errorf("the first run's tool leads to %q after the second's was set, want its own", got)
	}
}
