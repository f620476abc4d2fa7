package symbols

import (
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// A file is a program or library on the disk, opened once for all processes that have it
// mapped: what they know of its functions, some megabytes of a large program, is the same.
//
// Where the system can, the file is mapped into memory and closed: what is not looked
// at takes none, and it needs no descriptor. Addresses are the image's: where a process has
// it is that process's own affair.
type file struct {
	id    fileID
	users int // guarded by files

	once   sync.Once
	source io.ReaderAt
	data   []byte // all of it, where it is mapped
	image  *Image // nil when it could not be read
	close  func()
}

// A fileID tells files apart. One that replaces another is another inode: those of files
// that are open or mapped are not given away. One that was written anew in its place
// has another size or time. The time of its last change is left out: it changes when a
// file is deleted, while programs run it.
type fileID struct {
	device, inode uint64
	size, written int64 // bytes, and in nanoseconds
}

// files are those that are open. They are never many: one for each program and
// library that runs.
var files = struct {
	sync.Mutex
	open map[fileID]*file
}{open: map[fileID]*file{}}

// openFile opens a file, or joins those who have it open. It is nil where it cannot be
// read, and for what is no regular file: a device or a pipe in its place could make
// the reader wait.
func openFile(name string) *file {
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	if f := join(idOf(st)); f != nil {
		return f
	}
	r, err := os.Open(name)
	if err != nil {
		return nil
	}
	if st, err = r.Stat(); err != nil || !st.Mode().IsRegular() { // another by now
		r.Close()
		return nil
	}
	files.Lock()
	defer files.Unlock()
	id := idOf(st)
	if f := files.open[id]; f != nil {
		r.Close()
		f.users++
		return f
	}
	f := newFile(r, st.Size())
	f.id, f.users = id, 1
	files.open[id] = f
	return f
}

func join(id fileID) *file {
	files.Lock()
	defer files.Unlock()
	f := files.open[id]
	if f != nil {
		f.users++
	}
	return f
}

// OpenFile returns the image of a program's file, which close lets go of.
func OpenFile(name string) (im *Image, close func(), err error) {
	f := openFile(name)
	if im = f.read(); im == nil {
		f.release()
		return nil, nil, errors.New("the program's file cannot be read")
	}
	return im, f.release, nil
}

// newFile maps a file, or keeps it open.
func newFile(r *os.File, size int64) *file {
	data, unmap, err := mapFile(r, size)
	if err != nil {
		return &file{source: r, close: func() { r.Close() }}
	}
	r.Close()
	return &file{data: data, close: unmap}
}

// release lets go of a file. The last who does closes it; else the pages that were looked
// at are given back, which others seldom look at, too.
func (f *file) release() {
	if f == nil {
		return
	}
	files.Lock()
	defer files.Unlock()
	if f.users--; f.users > 0 {
		forget(f.data)
		return
	}
	delete(files.open, f.id)
	f.close()
}

// read returns the file's image, nil when it has none.
func (f *file) read() *Image {
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		if f.data == nil {
			f.image, _ = OpenImage(f.source)
			return
		}
		f.image, _ = openMapped(f.data)
		forget(f.data)
	})
	return f.image
}

// Rest gives back the pages of a mapped file that were looked at, unless that was done
// lately. The kernel maps sixteen where one is looked at: of a program of 2 MB 1.3 were
// resident after the first reading of its goroutines.
func (im *Image) Rest() {
	if now := time.Now().UnixNano(); im.looked.Load() && now-im.rested.Load() > int64(restEvery) {
		im.looked.Store(false)
		im.rested.Store(now)
		forget(im.data)
	}
}

// restEvery bounds what is spent on reading the same pages again.
const restEvery = 5 * time.Second

// recoverFault ends what reads a mapped file: pages that cannot be read, because somebody has
// cut the file or its disk is gone, raise a signal, and are as if nothing were there. It
// is deferred with what debug.SetPanicOnFault(true) said.
func recoverFault(before bool) {
	debug.SetPanicOnFault(before)
	p := recover()
	if _, fault := p.(interface{ Addr() uintptr }); p != nil && !fault {
		panic(p)
	}
}

// GoVersion returns which toolchain built the image; empty for what is not Go's, or built
// without build information.
func (im *Image) GoVersion() string {
	version, _ := im.Memo("go version", func() any { return im.goVersion() }).(string)
	return version
}

func (im *Image) goVersion() (version string) {
	defer recoverFault(debug.SetPanicOnFault(true))
	info, err := buildinfo.Read(im.source)
	if err != nil {
		return ""
	}
	return info.GoVersion
}

// Memo returns what make returned when it was called first with a key: what users of an image
// work out of it is the same for all processes that run it.
func (im *Image) Memo(key string, make func() any) any {
	im.mu.Lock()
	f, ok := im.kept[key]
	if !ok {
		f = sync.OnceValue(make)
		im.kept[key] = f
	}
	im.mu.Unlock()
	return f()
}
