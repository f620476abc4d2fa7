package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// What a zip archive is made of, as APPNOTE.TXT of PKWARE has it.
const (
	localHeader = 30 // bytes, without name and extra field

	localSignature      = "PK\x03\x04"
	descriptorSignature = "PK\x07\x08"
	descriptor32        = 16 // bytes: signature, sum, packed and unpacked size
	descriptor64        = 24 // the same with sizes of 8 bytes

	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // the size follows the content
	flagUTF8       = 1 << 11

	methodStore, methodDeflate = 0, 8

	sizeIn64 = math.MaxUint32 // the size is in the extra field
	extra64  = 1              // id of that field
	maxName  = 255            // bytes, of the names that we write
)

const (
	// searchRounds bounds what salvaging reads while it searches, in sizes of
	// the file. One torn member takes one round; only a file that was made for it
	// has more than a few.
	searchRounds = 8
	searchLeast  = 16 << 20 // bytes, of small files too
	// lookCost is what a look at one place counts for, in bytes: a system call takes as long
	// as reading those. A file that is nothing but signatures would have a look every four
	// bytes.
	lookCost = 1 << 10
)

// A salvager finds members by their own headers, for an archive whose index
// at the end is missing.
//
// Where a member ends is said in its header, or, when it was written before
// its length was known, in a descriptor behind it. Such a descriptor is
// believed when its size is the distance to the member's beginning and its sum
// that of the bytes between. Without one the member is torn: it reaches to the
// next header of a member that gowhy writes, else to the end of the file. The
// name makes sure, as far as that is possible, that no bytes of a trace are
// taken for a header.
type salvager struct {
	r      io.ReaderAt
	size   int64
	budget int64 // bytes that may still be read
	rec    *Recording
}

func salvage(r io.ReaderAt, size int64) *Recording {
	s := &salvager{r: r, size: size, rec: &Recording{Cut: true}}
	s.budget = math.MaxInt64
	if size < math.MaxInt64/searchRounds {
		s.budget = searchRounds*size + searchLeast
	}
	for off := int64(0); off < size; {
		h, ok := s.header(off)
		if !ok {
			if off == 0 || s.indexAt(off) {
				break // not a zip archive; its index
			}
			next, found := s.search(off, size)
			if !found {
				break
			}
			s.note("%d bytes before the member %q could not be read", next-off, s.nameAt(next))
			off = next
			continue
		}
		if len(s.rec.Members) >= maxMembers {
			s.note("more than %d members; the rest was left out", maxMembers)
			break
		}
		var m Member
		m, off = s.member(h)
		s.rec.Members = append(s.rec.Members, m)
	}
	if s.budget < 0 {
		s.note("too much of the file is damaged; not all was searched")
	}
	return s.rec
}

func (s *salvager) note(format string, args ...any) {
	s.rec.Notes = append(s.rec.Notes, fmt.Sprintf(format, args...))
}

// A header is what stands before a member's content.
type header struct {
	name             string
	version          byte
	flags, method    uint16
	sum              uint32
	packed, unpacked int64 // 0 with a descriptor
	open             bool  // the size is neither here nor in a descriptor
	body             int64 // where the content begins
}

func (s *salvager) header(off int64) (h header, ok bool) {
	var b [localHeader]byte
	s.budget -= lookCost
	if n, _ := s.r.ReadAt(b[:], off); n < localHeader || string(b[:4]) != localSignature {
		return h, false
	}
	le := binary.LittleEndian
	variable := make([]byte, int(le.Uint16(b[26:]))+int(le.Uint16(b[28:])))
	s.budget -= int64(len(variable))
	h.body = off + localHeader + int64(len(variable))
	if h.body > s.size {
		return h, false
	}
	if n, _ := s.r.ReadAt(variable, off+localHeader); n < len(variable) {
		return h, false
	}
	h.name = string(variable[:le.Uint16(b[26:])])
	h.version, h.flags, h.method = b[4], le.Uint16(b[6:]), le.Uint16(b[8:])
	h.sum, h.packed, h.unpacked = le.Uint32(b[14:]), int64(le.Uint32(b[18:])), int64(le.Uint32(b[22:]))
	if h.packed == sizeIn64 || h.unpacked == sizeIn64 {
		h.sizes64(variable[len(h.name):])
	}
	return h, true
}

// sizes64 takes the sizes of a large member from the extra field.
func (h *header) sizes64(extra []byte) {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if id == extra64 && n >= 16 {
			h.unpacked = int64(min(le.Uint64(extra), math.MaxInt64))
			h.packed = int64(min(le.Uint64(extra[8:]), math.MaxInt64))
			return
		}
		extra = extra[n:]
	}
	// archive/zip writes the size of such a member into the index only. Ours
	// puts the largest member last, so it reaches to the end of the file.
	h.open = true
}

// member returns the member under a header, and where the next begins.
func (s *salvager) member(h header) (m Member, next int64) {
	end, next, whole := s.end(h)
	m = Member{Name: h.name, Size: end - h.body, Cut: !whole}
	content := io.NewSectionReader(s.r, h.body, m.Size)
	switch {
	case h.flags&flagEncrypted != 0 || h.method != methodStore && h.method != methodDeflate:
		m.open = func() (io.ReadCloser, error) { return nil, fmt.Errorf("packed in a way gowhy does not know") }
	case h.method == methodStore:
		m.at = content
	default:
		if m.Size = h.unpacked; m.Cut || h.flags&flagDescriptor != 0 {
			m.Size = content.Size() // the least it can be
		}
		m.open = func() (io.ReadCloser, error) {
			content.Seek(0, io.SeekStart)
			return inflate(content), nil
		}
	}
	return m, next
}

// end finds where a member's content ends and whether all of it is there.
func (s *salvager) end(h header) (end, next int64, whole bool) {
	if h.flags&flagDescriptor != 0 && h.packed == 0 {
		return s.described(h)
	}
	known := !h.open && h.packed <= s.size-h.body
	if known {
		end = h.body + h.packed
		if _, ok := s.header(end); ok || s.size-end < localHeader || s.indexAt(end) {
			return end, end, true
		}
		// Something else follows: bytes are missing in the member or behind it.
		if h.method == methodStore {
			if sum, ok := s.sum(0, h.body, end); ok && sum == h.sum {
				return end, end, true
			}
		}
	}
	if next, ok := s.search(h.body, s.size); ok {
		return next, next, false
	}
	if known {
		return end, end, true // damaged, but not cut
	}
	return s.size, s.size, false
}

// described finds the end of a member that was written without its length.
func (s *salvager) described(h header) (end, next int64, whole bool) {
	sum, summed := uint32(0), h.body
	agrees := func(p int64) bool {
		if h.method != methodStore {
			return true // the sum is of what it unpacks to
		}
		var ok bool
		sum, ok = s.sum(sum, summed, p)
		summed = p
		return ok
	}
	found := s.find(descriptorSignature, h.body, s.size, func(p int64) bool {
		var d [descriptor64]byte
		s.budget -= lookCost
		n, _ := s.r.ReadAt(d[:], p)
		length, ok := descriptorOf(d[:n], uint64(p-h.body), h.method == methodStore)
		if !ok || !agrees(p) || h.method == methodStore && binary.LittleEndian.Uint32(d[4:]) != sum {
			return false
		}
		end, next = p, p+length
		return true
	})
	if found {
		return end, next, true
	}
	if next, ok := s.search(h.body, s.size); ok {
		for _, n := range []int64{descriptor32, descriptor64} { // its own, of more than is here
			if next-n >= h.body && s.at(next-n, descriptorSignature) {
				return next - n, next, false
			}
		}
		return next, next, false
	}
	if h.method == methodStore {
		if end, whole, ok := s.tornDescriptor(h.body); ok {
			return end, s.size, whole
		}
	}
	return s.size, s.size, false
}

// descriptorOf returns the length of the descriptor at the beginning of d if
// it is of a member of this size.
func descriptorOf(d []byte, size uint64, stored bool) (length int64, ok bool) {
	le := binary.LittleEndian
	if len(d) >= descriptor32 && size < sizeIn64 && uint64(le.Uint32(d[8:])) == size &&
		(!stored || uint64(le.Uint32(d[12:])) == size) {
		return descriptor32, true
	}
	if len(d) >= descriptor64 && le.Uint64(d[8:]) == size && (!stored || le.Uint64(d[16:]) == size) {
		return descriptor64, true
	}
	return 0, false
}

// tornDescriptor finds the beginning of a descriptor at the end of the file,
// so that no bytes of it are taken for the member's.
func (s *salvager) tornDescriptor(body int64) (end int64, whole, ok bool) {
	tail := make([]byte, min(descriptor64-1, s.size-body))
	if n, _ := s.r.ReadAt(tail, s.size-int64(len(tail))); n < len(tail) || len(tail) == 0 {
		return 0, false, false
	}
	from := s.size - int64(len(tail))
	sum, ok := s.sum(0, body, from)
	if !ok {
		return 0, false, false
	}
	for i := range tail {
		size := uint64(from-body) + uint64(i)
		le := binary.LittleEndian
		want := le.AppendUint32([]byte(descriptorSignature), crc32.Update(sum, crc32.IEEETable, tail[:i]))
		if size < sizeIn64 {
			want = le.AppendUint32(le.AppendUint32(want, uint32(size)), uint32(size))
		} else {
			want = le.AppendUint64(le.AppendUint64(want, size), size)
		}
		if bytes.HasPrefix(want, tail[i:]) {
			return from + int64(i), len(tail)-i >= 8, true // with the sum, all is there
		}
	}
	return 0, false, false
}

// memberNames are the names of the members that gowhy writes.
var memberNames = []string{
	ManifestMember, TraceMember, CPUMember, AllocsMember, HeapStartMember, HeapEndMember, HeapCourseMember, BlockMember,
	MutexMember, GoroutineStartMember, GoroutineEndMember, WallMember, ThreadCreateMember, LeakMember, MetricsMember,
	GCTraceMember, SchedTraceMember, BuildMember, ProcMember, KernelMember, KernelTimesMember, OffCPUMember, SyscallsMember, HoldersMember,
	LoadMember, StdoutMember, StderrMember,
}

// search finds the next header of a member that gowhy writes.
func (s *salvager) search(from, to int64) (off int64, found bool) {
	found = s.find(localSignature, from, to, func(p int64) bool {
		h, ok := s.header(p)
		off = p
		return ok && h.version <= 63 && h.method == methodStore && h.flags&^(flagDescriptor|flagUTF8) == 0 &&
			(h.flags&flagDescriptor == 0) == (h.packed > 0) && slices.Contains(memberNames, h.name)
	})
	return off, found
}

func (s *salvager) at(off int64, signature string) bool {
	b := make([]byte, len(signature))
	n, _ := s.r.ReadAt(b, off)
	return n == len(b) && string(b) == signature
}

func (s *salvager) nameAt(off int64) string {
	h, _ := s.header(off)
	return h.name
}

// indexAt reports whether the archive's index, or what is left of it, begins here.
func (s *salvager) indexAt(off int64) bool {
	var b [4]byte
	n, _ := s.r.ReadAt(b[:], off)
	return n < 4 || b[0] == 'P' && b[1] == 'K' && (b[2] == 1 && b[3] == 2 || b[2] == 5 && b[3] == 6 || b[2] == 6 && b[3] == 6)
}

// find calls at for each place of a signature until at returns true, which is
// what find then returns.
func (s *salvager) find(signature string, from, to int64, at func(off int64) bool) bool {
	buf := make([]byte, min(256<<10, max(to-from, 0)))
	for from < to && s.budget >= 0 {
		n, err := s.r.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		s.budget -= int64(n)
		for i := 0; ; i++ {
			j := bytes.Index(buf[i:n], []byte(signature))
			if j < 0 {
				break
			}
			if i += j; at(from + int64(i)) {
				return true
			}
			if s.budget < 0 {
				return false
			}
		}
		if err != nil || n < len(signature) {
			return false
		}
		if from += int64(n); from < to {
			from -= int64(len(signature) - 1)
		}
	}
	return false
}

// sum continues the CRC-32 of the file's bytes from one offset to another.
func (s *salvager) sum(sum uint32, from, to int64) (uint32, bool) {
	buf := make([]byte, min(256<<10, max(to-from, 0)))
	for from < to && s.budget >= 0 {
		n, err := s.r.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		s.budget -= int64(n)
		sum = crc32.Update(sum, crc32.IEEETable, buf[:n])
		if from += int64(n); err != nil && from < to {
			return sum, false
		}
	}
	return sum, from >= to
}
