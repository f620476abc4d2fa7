package drafts

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func TestOpenDraftsAreWrittenDown(t *testing.T) {
	for _, way := range []string{"hooks", "registry"} {
		ctx, cancel := context.WithCancel(t.Context())
		var j journal
		desk, err := NewDesk(ctx, way, &j)
		if err != nil {
			t.Fatal(err)
		}
		ann, ben := desk.Open("ann"), desk.Open("ben")
		_, _ = ann.Write([]byte("my printer"))
		_, _ = ben.Write([]byte("my screen"))
		ann.Commit()
		cancel()
		for range 100 {
			if strings.Contains(j.String(), "\n") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if s := j.String(); !strings.Contains(s, "my screen") || strings.Contains(s, "my printer") {
			t.Errorf("%s: written down: %q", way, s)
		}
	}
}
