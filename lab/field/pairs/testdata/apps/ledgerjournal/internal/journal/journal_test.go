package journal

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestAppend(t *testing.T) {
	for _, group := range []time.Duration{0, time.Millisecond} {
		name := filepath.Join(t.TempDir(), "journal")
		j, err := Open(name, Options{Group: group})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := j.Append([]byte("four")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		info, err := os.Stat(name)
		if err != nil || info.Size() != 8*(8+4) {
			t.Errorf("group %s: %v, %v; want eight frames", group, info, err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
