package forge

import (
	"bytes"
	"context"
	"testing"
	"time"

	"packageforge/internal/graph"
	"packageforge/internal/toolchain"
)

func TestBuild(t *testing.T) {
	var manifests [][]byte
	for _, d := range []Dispatch{Queue, Ready} {
		f, err := New(toolchain.New(time.Millisecond), 4, d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Build(context.Background(), graph.Layered(5, 3))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Artifacts) != 15 {
			t.Errorf("%s: %d artifacts, want 15", d, len(r.Artifacts))
		}
		manifests = append(manifests, r.Manifest())
	}
	if !bytes.Equal(manifests[0], manifests[1]) {
		t.Errorf("manifests are %x and %x", manifests[0], manifests[1])
	}
}
