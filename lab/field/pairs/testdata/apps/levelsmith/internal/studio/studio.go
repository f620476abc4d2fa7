// Package studio makes a project with levels for the tool to work on.
package studio

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"levelsmith/internal/level"
)

var kinds = []string{"chest", "torch", "gate", "guard", "barrel", "stairs"}

// Build writes a project of n levels into dir and returns their names.
func Build(dir string, n int) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "levels"), 0o755); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(7, 11))
	var names []string
	for i := range n {
		l := level.Level{Name: fmt.Sprintf("vault-%02d", i), Title: fmt.Sprintf("The vault, floor %d", i), Width: 96, Height: 80}
		for range l.Height {
			row := make([]byte, l.Width)
			for x := range row {
				row[x] = ".....~,#"[r.IntN(8)]
			}
			l.Rows = append(l.Rows, string(row))
		}
		for p := range 60 + r.IntN(60) {
			l.Props = append(l.Props, level.Prop{Kind: kinds[r.IntN(len(kinds))], X: r.IntN(l.Width), Y: r.IntN(l.Height), Tag: fmt.Sprintf("p%d", p)})
		}
		data, err := json.MarshalIndent(l, "", "  ")
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, "levels", l.Name+".json"), data, 0o644); err != nil {
			return nil, err
		}
		names = append(names, l.Name)
	}
	return names, nil
}
