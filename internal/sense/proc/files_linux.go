package proc

import (
	"encoding/binary"
	"errors"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// files reads many small files of /proc again and again. A file that stays
// open takes one system call, pread; one that does not takes three: open, read
// and close. As many stay open as the budget allows.
//
// Which ones is not decided by least recent use alone: a table reads all of
// them in turn, so that with one more file than the budget each would be
// closed just before it is due. Those that got in stay; what was not read for
// a few rounds goes when another wants its place. And only what is read a
// second time within these rounds gets in: of a thread that rests one file is
// read again and again, and two only once.
type files struct {
	dir    int // of /proc itself, -1 when closed
	load   int // loadavg, 0 when it is not open
	budget int
	kept   int
	round  uint64
	calls  int64 // system calls made
	missed int64 // reads that had to open

	oldest, newest *file // of the kept, by last reading
	buf            []byte
	path           []byte
}

// A file is one that is read again. It must not be moved while kept.
type file struct {
	fd         int
	kept       bool
	round      uint64 // of the last reading
	prev, next *file  // older, newer
}

// idleRounds is for how many rounds a kept file may not be read and still
// hold its place: status files are read only when their thread ran, and that of a
// process that does not run within these rounds.
const idleRounds = 2 * stillFor

// readBuffer is more than any file has that is read here, but for the status
// of a user in thousands of groups.
const readBuffer = 64 << 10

func openFiles(root string, budget int) (*files, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &files{dir: fd, budget: budget, buf: make([]byte, readBuffer), path: make([]byte, 0, 64)}, nil
}

// allowedFiles returns how many descriptors this process may have.
func allowedFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<20))
}

func (f *files) close() {
	for f.oldest != nil {
		f.drop(f.oldest)
	}
	if f.load > 0 {
		f.shut(f.load)
		f.load = 0
	}
	if f.dir >= 0 {
		f.shut(f.dir)
		f.dir = -1
	}
}

// read reads a file of a process, or with a thread one of the thread's. The
// text is good until the next reading. A kept file whose process has ended
// answers ESRCH even when its number belongs to another by now.
func (f *files) read(at *file, pid, tid int, name string) ([]byte, error) {
	if at.kept {
		n, err := f.pread(at.fd)
		if err != nil {
			f.drop(at)
			return nil, err
		}
		f.touch(at)
		return f.buf[:n], nil
	}
	fd, err := f.open(pid, tid, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	n, err := f.pread(fd)
	if err != nil || !f.keep(at, fd) {
		f.shut(fd)
	}
	at.round = f.round
	if err != nil {
		return nil, err
	}
	return f.buf[:n], nil
}

// readOnce reads a file of a process that is read too seldom to stay open.
func (f *files) readOnce(pid int, name string) ([]byte, error) {
	fd, err := f.open(pid, 0, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.shut(fd)
	n, err := f.pread(fd)
	if err != nil {
		return nil, err
	}
	return f.buf[:n], nil
}

// size returns that of a directory of a process, which for its open files is their
// number since Linux 6.2; 0 before.
func (f *files) size(at *file, pid int, name string) (int64, error) {
	fd, opened := at.fd, !at.kept
	if opened {
		var err error
		if fd, err = f.open(pid, 0, name, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
			return 0, err
		}
	}
	var st unix.Stat_t
	f.calls++
	err := unix.Fstat(fd, &st)
	switch {
	case !opened && err != nil:
		f.drop(at)
	case !opened:
		f.touch(at)
	case err != nil || !f.keep(at, fd):
		f.shut(fd)
		at.round = f.round
	}
	return st.Size, err
}

// list appends the numbers among the names in a process's directory, in /proc
// itself for process 0; no more than most.
func (f *files) list(ids []int, pid int, name string, most int) ([]int, error) {
	fd := f.dir
	if pid != 0 {
		var err error
		if fd, err = f.open(pid, 0, name, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
			return ids, err
		}
		defer f.shut(fd)
	} else {
		f.calls++
		if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
			return ids, err
		}
	}
	for len(ids) < most {
		f.calls++
		n, err := unix.Getdents(fd, f.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return ids, err
		}
		ids = numbered(f.buf[:n], ids)
	}
	return ids[:most], nil
}

// births reads them of now.
func (f *files) births() (b births) {
	if f.load == 0 {
		fd, err := unix.Openat(f.dir, "loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		f.calls++
		if err != nil {
			return b
		}
		f.load = fd
	}
	n, err := f.pread(f.load)
	if err != nil {
		return b
	}
	return parseBirths(f.buf[:n])
}

// genuine reports whether these files are the kernel's own, and not what somebody shows
// instead of them in a container, who may be some seconds late.
func (f *files) genuine() bool {
	var of unix.Statfs_t
	fd, err := unix.Openat(f.dir, "loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Fstatfs(fd, &of) == nil && of.Type == unix.PROC_SUPER_MAGIC
}

// numbered appends the names that are numbers, of records that getdents64
// wrote: inode and offset of 8 bytes, length of 2, type of 1, name to a zero.
func numbered(b []byte, ids []int) []int {
	const head = 8 + 8 + 2 + 1
	for len(b) > head {
		size := int(binary.NativeEndian.Uint16(b[16:]))
		if size <= head || size > len(b) {
			break
		}
		if id, ok := decimal(b[head:size]); ok {
			ids = append(ids, id)
		}
		b = b[size:]
	}
	return ids
}

// decimal reads a name that is a process's number, to the zero behind it.
func decimal(name []byte) (id int, ok bool) {
	for i, c := range name {
		switch {
		case c == 0:
			return id, i > 0
		case c < '0' || c > '9' || id > 1<<28:
			return 0, false
		}
		id = id*10 + int(c-'0')
	}
	return 0, false
}

func (f *files) pread(fd int) (int, error) {
	for {
		f.calls++
		n, err := unix.Pread(fd, f.buf, 0)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// open opens a file by its path below /proc. Without a descriptor left it
// gives up some of its own, and lowers its budget: somebody needs them.
func (f *files) open(pid, tid int, name string, flags int) (int, error) {
	f.missed++
	for {
		fd, err := f.openat(pid, tid, name, flags)
		if err != unix.EMFILE || f.oldest == nil {
			return fd, err
		}
		for range 1 + f.kept/8 {
			f.drop(f.oldest)
		}
		f.budget = min(f.budget, f.kept)
	}
}

// openat is written out because package unix copies the path to the heap.
func (f *files) openat(pid, tid int, name string, flags int) (int, error) {
	path := strconv.AppendInt(f.path[:0], int64(pid), 10)
	if tid != 0 {
		path = append(path, "/task/"...)
		path = strconv.AppendInt(path, int64(tid), 10)
	}
	path = append(path, '/')
	path = append(path, name...)
	path = append(path, 0)
	f.path = path
	for {
		f.calls++
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(f.dir), uintptr(unsafe.Pointer(&path[0])), uintptr(flags|unix.O_CLOEXEC), 0, 0, 0)
		if errno == 0 {
			return int(fd), nil
		}
		if errno != syscall.EINTR {
			return -1, errno
		}
	}
}

func (f *files) shut(fd int) {
	f.calls++
	unix.Close(fd)
}

// keep takes the open descriptor of a file that was read lately, if there is
// room or somebody idle.
func (f *files) keep(at *file, fd int) bool {
	if at.round == 0 || at.round+idleRounds < f.round {
		return false
	}
	if f.kept >= f.budget {
		if f.oldest == nil || f.oldest.round+idleRounds > f.round {
			return false
		}
		f.drop(f.oldest)
	}
	if f.kept >= f.budget {
		return false
	}
	at.fd, at.kept = fd, true
	f.kept++
	f.push(at)
	return true
}

// drop closes a kept file; others it leaves alone.
func (f *files) drop(at *file) {
	if !at.kept {
		return
	}
	f.unlink(at)
	f.shut(at.fd)
	f.kept--
	*at = file{}
}

func (f *files) touch(at *file) {
	if at.round == f.round {
		return // order within a round does not matter
	}
	f.unlink(at)
	f.push(at)
}

func (f *files) push(at *file) {
	at.round, at.prev, at.next = f.round, f.newest, nil
	if f.newest != nil {
		f.newest.next = at
	} else {
		f.oldest = at
	}
	f.newest = at
}

func (f *files) unlink(at *file) {
	if at.prev != nil {
		at.prev.next = at.next
	} else {
		f.oldest = at.next
	}
	if at.next != nil {
		at.next.prev = at.prev
	} else {
		f.newest = at.prev
	}
}

// ended reports whether an error says that the process or thread is no more.
func ended(err error) bool { return errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOENT) }

// absent reports whether it says that there is no such file.
func absent(err error) bool { return errors.Is(err, unix.ENOENT) }

// refused reports whether it says that we may not look.
func refused(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }
