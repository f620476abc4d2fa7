// Package archive has folders of files and their copies.
package archive

import "encoding/binary"

// An Archive makes its files when they are read.
type Archive struct{ folders, files int }

// New makes an archive.
func New(folders, files int) *Archive { return &Archive{folders, files} }

// Folders is how many there are.
func (a *Archive) Folders() int { return a.folders }

// Files is how many each has.
func (a *Archive) Files() int { return a.files }

// Read reads a file into a buffer; few copies differ.
func (a *Archive) Read(folder, file int, second bool, into []byte) {
	state := uint64(folder*1000+file)*2654435761 + 1
	for i := 0; i+8 <= len(into); i += 8 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		binary.LittleEndian.PutUint64(into[i:], state)
	}
	if second && (folder+file)%97 == 0 {
		into[len(into)/2]++
	}
}
