package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A vt is the screen of a terminal, as far as what is drawn by terminfo's
// xterm-256color needs one. What it does not know it remembers: a test can then tell
// that it saw less than a user would.
type vt struct {
	cells   [][]rune
	x, y    int
	modes   map[string]bool // set, like ?1049 for the alternate screen
	colours []string        // that were asked for
	left    int             // how often the alternate screen was left
	beyond  bool            // something was written behind the last column
	unknown []string
	rest    []byte // of a sequence whose end is still to come
}

func newVT(width, height int) *vt {
	v := &vt{modes: map[string]bool{}}
	v.resize(width, height)
	return v
}

// resize begins with an empty screen: who draws on it draws everything anew.
func (v *vt) resize(width, height int) {
	v.cells = make([][]rune, height)
	for y := range v.cells {
		v.cells[y] = slices.Repeat([]rune{' '}, width)
	}
	v.x, v.y = 0, 0
}

// String returns what a user sees.
func (v *vt) String() string {
	var b strings.Builder
	for _, l := range v.cells {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return b.String()
}

func (v *vt) Write(p []byte) (int, error) {
	b := append(v.rest, p...)
	for len(b) > 0 {
		n := v.next(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	v.rest = slices.Clone(b)
	return len(p), nil
}

// next takes one character or sequence, and returns its length: 0 when it is not whole.
func (v *vt) next(b []byte) int {
	switch {
	case b[0] == '\x1b':
		return v.escape(b)
	case b[0] == '\r':
		v.x = 0
	case b[0] == '\n':
		v.y = min(v.y+1, len(v.cells)-1)
	case b[0] == '\b':
		v.x = max(0, v.x-1)
	case b[0] < ' ': // bell, shift in and out
	case !utf8.FullRune(b):
		return 0
	default:
		r, n := utf8.DecodeRune(b)
		v.put(r)
		return n
	}
	return 1
}

func (v *vt) put(r rune) {
	if v.x >= len(v.cells[v.y]) {
		v.beyond = true
		return
	}
	v.cells[v.y][v.x] = r
	v.x++
}

func (v *vt) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		end := slices.IndexFunc(b[2:], func(c byte) bool { return c >= '@' })
		if end < 0 {
			return 0
		}
		v.control(string(b[2:2+end]), b[2+end])
		return end + 3
	case ']': // the title
		for i, c := range b {
			if c == '\a' || c == '\\' && b[i-1] == '\x1b' {
				return i + 1
			}
		}
		return 0
	case '(', ')': // sets of characters
		if len(b) < 3 {
			return 0
		}
		return 3
	case '=', '>': // the keypad
		return 2
	}
	v.unknown = append(v.unknown, fmt.Sprintf("%q", b[:2]))
	return 2
}

// control does a sequence that begins with ESC [.
func (v *vt) control(args string, what byte) {
	n := numbers(args)
	switch {
	case what == 'h' || what == 'l':
		v.mode(args, what == 'h')
	case what == 'm' && !strings.HasPrefix(args, ">"):
		v.paint(args, n)
	case what == 'H' || what == 'f':
		v.y = min(max(n[0], 1), len(v.cells)) - 1
		v.x = max(1, append(n, 1)[1]) - 1
	case what == 'C':
		v.x += max(1, n[0])
	case what == 'J' && n[0] == 2:
		v.resize(len(v.cells[0]), len(v.cells))
	case what == 'J' && n[0] == 0:
		v.erase()
		for _, l := range v.cells[v.y+1:] {
			blank(l)
		}
	case what == 'K' && n[0] == 0:
		v.erase()
	case what == 't' || what == 'u' || what == 'm' || what == 'q': // the title, keys, the cursor's form
	default:
		v.unknown = append(v.unknown, "ESC ["+args+string(what))
	}
}

func (v *vt) erase() { blank(v.cells[v.y][min(v.x, len(v.cells[v.y])):]) }

func blank(line []rune) {
	for x := range line {
		line[x] = ' '
	}
}

func (v *vt) mode(args string, on bool) {
	for _, m := range strings.Split(strings.TrimPrefix(args, "?"), ";") {
		if m == "1049" && !on && v.modes["?1049"] {
			v.left++
		}
		v.modes["?"+m] = on
	}
}

// paint remembers colours; 39 and 49 are the terminal's own.
func (v *vt) paint(args string, n []int) {
	if slices.ContainsFunc(n, func(n int) bool { return n >= 30 && n < 39 || n >= 40 && n < 49 || n >= 90 }) {
		v.colours = append(v.colours, args)
	}
}

// numbers returns the parameters of a sequence; what is left out is 0.
func numbers(args string) (list []int) {
	for _, a := range strings.Split(strings.TrimLeft(args, "?><="), ";") {
		n, _ := strconv.Atoi(a)
		list = append(list, n)
	}
	return list
}
