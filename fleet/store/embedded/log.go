package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// The log has a file for each table in memory. A file is its magic and groups: what one
// fsync made durable. A group is
//
//	mark, length of the payload, CRC-32C of the payload, CRC-32C of the twelve bytes before
//
// in 4 bytes each, little endian, and a payload of batches, each behind its length.
//
// Only whole groups are acknowledged, so a crash leaves at most one that is not whole, at
// the end of the last file: the disk may have any part of it. It is cut off. Whole groups
// after one that is not are damage, for which no crash is to blame. Damage to the very
// last group looks like a crash; nothing but a copy elsewhere could tell them apart.
const (
	logMagic   = "gowhylg2"
	groupMark  = 0x67725031
	headerSize = 16
	// mostGroup bounds what one fsync waits for. A group has one batch at least.
	mostGroup = 8 << 20
	// mostPayload is what a reader believes of a header.
	mostPayload = mostGroup + mostBatch + 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A journal is a file of the log that is being written.
type journal struct {
	file file
	path string
	size int64 // of what is whole
	// failed is why nothing can be appended any more: after a failed fsync the kernel
	// may have dropped the pages and say nothing the next time.
	failed error
}

// createJournal makes a new file and its name durable.
func createJournal(d disk, path string) (*journal, error) {
	f, err := d.openFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	_, err = io.WriteString(f, logMagic)
	err = errors.Join(err, f.Sync(), d.syncDir(filepath.Dir(path)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("log %s: %w", path, err), f.Close())
	}
	return &journal{file: f, path: path, size: int64(len(logMagic))}, nil
}

// openJournal goes on behind the first size bytes of a file.
func openJournal(d disk, path string, size int64) (*journal, error) {
	f, err := d.openFile(path, os.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	j := &journal{file: f, path: path, size: size}
	if err := j.cut(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// cut removes what is behind the last whole group.
func (j *journal) cut() error {
	err := j.file.Truncate(j.size)
	if err == nil {
		_, err = j.file.Seek(j.size, io.SeekStart)
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.failed = fmt.Errorf("log %s: cutting it to %d bytes: %w", j.path, j.size, err)
	}
	return j.failed
}

// append makes a group durable, whose payload is behind room for a header. After an error
// nothing of it is in the log.
func (j *journal) append(group []byte) error {
	if j.failed != nil {
		return j.failed
	}
	putHeader(group)
	if _, err := j.file.Write(group); err != nil {
		return errors.Join(fmt.Errorf("log %s: %w", j.path, err), j.cut())
	}
	if err := j.file.Sync(); err != nil {
		j.failed = fmt.Errorf("log %s: fsync: %w (open the store again)", j.path, err)
		return j.failed
	}
	j.size += int64(len(group))
	return nil
}

// putHeader writes the header of a group before its payload.
func putHeader(group []byte) {
	payload := group[headerSize:]
	binary.LittleEndian.PutUint32(group, groupMark)
	binary.LittleEndian.PutUint32(group[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(group[8:], crc32.Checksum(payload, castagnoli))
	binary.LittleEndian.PutUint32(group[12:], crc32.Checksum(group[:12], castagnoli))
}

// A damage is a group of the log that is not as it was written.
type damage struct {
	path   string
	offset int64
	why    string
}

func (e *damage) Error() string {
	return fmt.Sprintf("log %s: damaged at byte %d: %s (hint: restore the file from a copy, "+
		"or move it away to open the store without what is only in it)", e.path, e.offset, e.why)
}

// replay gives the batches of a file of the log and says how many bytes of it are whole.
// Of the last file it leaves a group that a crash cut.
func replay(path string, last bool, each func(*batch)) (whole int64, err error) {
	data, err := os.ReadFile(path) // as long as a table of memory, about
	if err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	return replayBytes(path, data, last, each)
}

func replayBytes(path string, data []byte, last bool, each func(*batch)) (whole int64, err error) {
	if len(data) < len(logMagic) && last {
		return 0, nil // the crash came while it was made
	}
	if !bytes.HasPrefix(data, []byte(logMagic)) {
		return 0, &damage{path, 0, "it does not begin as a log does"}
	}
	offset := len(logMagic)
	for offset < len(data) {
		payload, why := group(data[offset:])
		if why != "" && last && !anyGroup(data[offset+1:]) {
			break
		}
		if why == "" {
			why = eachBatch(payload, each)
		}
		if why != "" {
			return 0, &damage{path, int64(offset), why}
		}
		offset += headerSize + len(payload)
	}
	return int64(offset), nil
}

// group returns the payload of the group with which data begins, or why there is none.
func group(data []byte) (payload []byte, why string) {
	if len(data) < headerSize {
		return nil, "the header of a group is cut"
	}
	if binary.LittleEndian.Uint32(data) != groupMark ||
		crc32.Checksum(data[:12], castagnoli) != binary.LittleEndian.Uint32(data[12:]) {
		return nil, "this is no header of a group"
	}
	length := binary.LittleEndian.Uint32(data[4:])
	if length > mostPayload || int(length) > len(data)-headerSize {
		return nil, "a group is cut"
	}
	payload = data[headerSize : headerSize+int(length)]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(data[8:]) {
		return nil, "the checksum of a group differs"
	}
	return payload, ""
}

// anyGroup reports whether a whole group begins anywhere in data.
func anyGroup(data []byte) bool {
	mark := binary.LittleEndian.AppendUint32(nil, groupMark)
	for {
		i := bytes.Index(data, mark)
		if i < 0 {
			return false
		}
		if _, why := group(data[i:]); why == "" {
			return true
		}
		data = data[i+1:]
	}
}

func eachBatch(payload []byte, each func(*batch)) (why string) {
	for len(payload) > 0 {
		length, n := binary.Uvarint(payload)
		if n <= 0 || length > uint64(len(payload)-n) {
			return "a batch is longer than its group"
		}
		b, err := decode(payload[n : n+int(length)])
		if err == nil && !b.valid() {
			err = errBatch
		}
		if err != nil {
			return err.Error()
		}
		each(b)
		payload = payload[n+int(length):]
	}
	return ""
}
