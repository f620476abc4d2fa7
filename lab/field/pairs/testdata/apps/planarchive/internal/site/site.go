// Package site lays out an archive with the plans of the town's buildings.
package site

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Lay writes the archive and returns its directory and the register of sheets.
func Lay(dir string, files, sheets int) (string, []string, error) {
	rnd := rand.New(rand.NewPCG(3, 5))
	var register []string
	volume := filepath.Join(dir, "volumes", "2019", "building-office")
	for n := range files {
		ward := fmt.Sprintf("ward-%02d", n%12)
		rel := filepath.Join("district", ward, fmt.Sprintf("street-%03d", n%97), fmt.Sprintf("file-%05d", n), "approved", "plans")
		if err := os.MkdirAll(filepath.Join(volume, rel), 0o755); err != nil {
			return "", nil, err
		}
		for s := range sheets {
			name := filepath.Join(rel, fmt.Sprintf("sheet-%02d.dxf", s))
			text := make([]byte, 500+rnd.IntN(3000))
			for i := range text {
				text[i] = byte('0' + rnd.IntN(40))
			}
			if err := os.WriteFile(filepath.Join(volume, name), text, 0o644); err != nil {
				return "", nil, err
			}
			register = append(register, name)
		}
	}
	current := filepath.Join(dir, "current")
	return current, register, os.Symlink(volume, current)
}
