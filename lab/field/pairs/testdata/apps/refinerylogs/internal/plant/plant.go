// Package plant is the units of a refinery that write logs and rotate them.
package plant

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Unit writes one log.
type Unit struct {
	Path  string
	Turn  int // lines after which the log is rotated
	Keep  int // rotated logs that are kept
	lines int
}

// New makes the unit of that number with its log in dir.
func New(dir string, number int) *Unit {
	return &Unit{Path: filepath.Join(dir, fmt.Sprintf("unit%02d.log", number)), Turn: 30 + number%7, Keep: 2}
}

// Run writes lines until ctx ends and returns how many.
func (u *Unit) Run(ctx context.Context, pause time.Duration) (int, error) {
	f, err := os.Create(u.Path)
	if err != nil {
		return 0, err
	}
	defer func() { f.Close() }()
	for ctx.Err() == nil {
		time.Sleep(pause)
		for range 3 {
			fmt.Fprintf(f, "%s valve=%d pressure=%.2f temperature=%.1f flow=%.3f state=%s\n", time.Now().Format(time.RFC3339Nano),
				rand.IntN(400), 1+rand.Float64()*40, 20+rand.Float64()*300, rand.Float64()*9, []string{"open", "shut", "half"}[rand.IntN(3)])
			u.lines++
		}
		if u.lines%u.Turn < 3 {
			f.Close()
			if f, err = u.rotate(); err != nil {
				return u.lines, err
			}
		}
	}
	return u.lines, nil
}

func (u *Unit) rotate() (*os.File, error) {
	for i := u.Keep; i > 0; i-- {
		from := u.Path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", u.Path, i-1)
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", u.Path, i)); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	return os.Create(u.Path)
}
