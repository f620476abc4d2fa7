// Package compare tells how one text became another.
package compare

// Hunk is a run of lines that were taken out or put in.
type Hunk struct {
	Line    int      `json:"line"`
	Removed []string `json:"removed,omitempty"`
	Added   []string `json:"added,omitempty"`
}

// Options choose how texts are compared.
type Options struct {
	Narrow bool
}

// Lines returns the changes from a to b.
func Lines(a, b []string, o Options) []Hunk {
	offset := 0
	if o.Narrow {
		for offset < len(a) && offset < len(b) && a[offset] == b[offset] {
			offset++
		}
		a, b = a[offset:], b[offset:]
		for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
			a, b = a[:len(a)-1], b[:len(b)-1]
		}
	}
	return walk(a, b, table(a, b), offset)
}

// table has at [i][j] how many lines a[i:] and b[j:] have in common, in order.
func table(a, b []string) [][]uint16 {
	rows := make([][]uint16, len(a)+1)
	cells := make([]uint16, (len(a)+1)*(len(b)+1))
	for i := range rows {
		rows[i], cells = cells[:len(b)+1], cells[len(b)+1:]
	}
	for i := len(a) - 1; i >= 0; i-- {
		row, below := rows[i], rows[i+1]
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				row[j] = below[j+1] + 1
			} else {
				row[j] = max(below[j], row[j+1])
			}
		}
	}
	return rows
}

func walk(a, b []string, rows [][]uint16, offset int) []Hunk {
	var out []Hunk
	var open *Hunk
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			open = nil
			i++
			j++
			continue
		}
		if open == nil {
			out = append(out, Hunk{Line: offset + i + 1})
			open = &out[len(out)-1]
		}
		if j >= len(b) || (i < len(a) && rows[i+1][j] >= rows[i][j+1]) {
			open.Removed = append(open.Removed, a[i])
			i++
		} else {
			open.Added = append(open.Added, b[j])
			j++
		}
	}
	return out
}
