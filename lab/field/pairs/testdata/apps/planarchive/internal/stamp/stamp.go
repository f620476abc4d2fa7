// Package stamp marks the copies of sheets that leave the archive.
package stamp

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/crc32"
)

// Copy is a sheet as it is handed out.
type Copy struct {
	Sheet  string
	Reader string
	Sum    string
	Check  uint32
	Size   int
}

// Mark makes the stamp of a copy.
func Mark(sheet, reader string, text []byte) Copy {
	h := sha256.New()
	h.Write(text)
	h.Write([]byte(reader))
	return Copy{
		Sheet:  sheet,
		Reader: reader,
		Sum:    base64.StdEncoding.EncodeToString(h.Sum(nil)),
		Check:  crc32.ChecksumIEEE(text),
		Size:   len(text),
	}
}

func (c Copy) String() string {
	return fmt.Sprintf("%s for %s: %d bytes, %08x %s", c.Sheet, c.Reader, c.Size, c.Check, c.Sum)
}
