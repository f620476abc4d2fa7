// Package files has files.
package files

import "strconv"

// A File has a name and a content.
type File struct {
	Name    string
	Content []byte
}

// Make makes a small file up.
func Make(i int) File {
	return File{"file" + strconv.Itoa(i), strconv.AppendInt(make([]byte, 0, 64), int64(i)*1234567, 36)}
}
