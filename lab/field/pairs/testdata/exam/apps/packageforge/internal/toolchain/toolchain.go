// Package toolchain compiles packages on the build farm and links what comes back.
package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"packageforge/internal/graph"
)

// An Artifact is a package that is built.
type Artifact struct {
	Name  string
	Sum   [sha256.Size]byte
	Bytes int
}

// A Toolchain has a farm that does the compiling.
type Toolchain struct{ farm time.Duration }

// New makes a toolchain, whose farm takes so long.
func New(farm time.Duration) *Toolchain { return &Toolchain{farm: farm} }

// Compile sends the sources of a package to the farm and checks what it returns.
func (t *Toolchain) Compile(ctx context.Context, p *graph.Package) (Artifact, error) {
	src := sources(p)
	timer := time.NewTimer(t.farm)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return Artifact{}, ctx.Err()
	case <-timer.C:
	}
	return Artifact{Name: p.Name, Sum: sha256.Sum256(src), Bytes: len(src)}, nil
}

// sources are those of a package.
func sources(p *graph.Package) []byte {
	b := make([]byte, 0, p.Size)
	x := uint64(len(p.Needs)) + 1
	for _, c := range p.Name {
		x = x*1099511628211 + uint64(c)
	}
	for len(b) < p.Size {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}
