package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTile(t *testing.T) {
	dir := t.TempDir()
	sheet := bytes.Repeat([]byte("map!"), 16<<10)
	if err := os.WriteFile(filepath.Join(dir, "sheet003.map"), sheet, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, byName := range []bool{false, true} {
		a := Open(dir, byName)
		for tile := range 3 {
			if got, err := a.Tile(3, tile); err != nil || !bytes.Equal(got, sheet[:1024]) {
				t.Errorf("tile %d: %d bytes, %v", tile, len(got), err)
			}
		}
		if _, err := a.Tile(4, 0); err == nil {
			t.Error("there is no sheet 4")
		}
	}
}
