//go:build !linux

package proc

import (
	"io/fs"
	"os"
	"time"
)

// Nothing here is reached but by tests: [Open] refuses.

func cpuClocks(int) (total, user, system time.Duration, ok bool) { return 0, 0, 0, false }

func cpuTime(int) (time.Duration, bool) { return 0, false }

func ThreadTime() time.Duration { return 0 }

func readSmall(path string, _ []byte) ([]byte, bool) {
	text, err := os.ReadFile(path)
	return text, err == nil
}

type taskstats struct{}

func openTaskstats(int) *taskstats          { return nil }
func (*taskstats) read() (c count, ok bool) { return c, false }

// A files reads nothing: [NewTable] refuses.
type files struct {
	round         uint64
	calls, missed int64
	kept          int
}

type file struct{}

func allowedFiles() int                                              { return 0 }
func openFiles(string, int) (*files, error)                          { return nil, ErrSystem }
func (*files) close()                                                {}
func (*files) drop(*file)                                            {}
func (*files) read(*file, int, int, string) ([]byte, error)          { return nil, ErrSystem }
func (*files) readOnce(int, string) ([]byte, error)                  { return nil, ErrSystem }
func (*files) size(*file, int, string) (int64, error)                { return 0, ErrSystem }
func (*files) list(ids []int, _ int, _ string, _ int) ([]int, error) { return ids, ErrSystem }
func (*files) births() births                                        { return births{} }
func (*files) genuine() bool                                         { return false }
func ended(error) bool                                               { return false }
func absent(error) bool                                              { return false }
func refused(error) bool                                             { return false }

func fileIDOf(info fs.FileInfo) fileID { return fileID{changed: info.ModTime()} }

func owner(fs.FileInfo) int { return -1 }
