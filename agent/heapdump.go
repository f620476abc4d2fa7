package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// heapDumpVariable allows heap dumps: they have all that the program's memory has.
const heapDumpVariable = "GOWHY_AGENT_HEAPDUMP"

func heapDumpAllowed() bool {
	is, _ := strconv.ParseBool(os.Getenv(heapDumpVariable))
	return is
}

// copyBytes are sent by one write.
const copyBytes = 1 << 20

// serveHeapDump answers with what debug.WriteHeapDump writes. That stops the program until all is
// written, so it goes to a file: a pipe's reader would be stopped, too, and a client may be slow.
func serveHeapDump(c *conn, o options) error {
	switch {
	case !heapDumpAllowed():
		c.refuse(403, errors.New("a heap dump has all contents of the program's memory: set "+heapDumpVariable+"=1 in its environment to allow them"))
		return nil
	case o.redact:
		c.refuse(400, errors.New("a heap dump has all contents of the program's memory: redact=1 leaves none of them out"))
		return nil
	}
	release, err := front.claim("a heap dump")
	if err != nil {
		return err
	}
	defer release()
	if o.collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapInuse > uint64(o.limit) {
		c.refuse(413, fmt.Errorf("limit=%dMiB allows it: the heap has %d MiB, and the program is stopped until they are written", m.HeapInuse>>20*5/4+1, m.HeapInuse>>20))
		return nil
	}
	f, err := os.CreateTemp("", "gowhy-heapdump-") // only its user may read it
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // where an open file cannot be
	defer f.Close()
	os.Remove(f.Name())
	debug.WriteHeapDump(f.Fd())
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	c.w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	c.begin(binaryType, "app.heapdump")
	_, err = io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{f}, make([]byte, copyBytes))
	return err
}
