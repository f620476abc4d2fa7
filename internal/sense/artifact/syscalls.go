package artifact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

const (
	syscallsKind   = "gowhy syscalls"
	syscallsSchema = 1

	maxSyscallsFile = 4 << 20
	maxSyscallNames = 1 << 12
)

// A SyscallFile is syscalls.json.
type SyscallFile struct {
	Header
	Begin time.Time     `json:"begin"`
	End   time.Time     `json:"end"`
	Lost  int64         `json:"lost,omitempty"`
	Share float64       `json:"share,omitempty"` // of the time in which calls were counted; absent is all of it
	Calls []syscallLine `json:"calls"`
}

type syscallLine struct {
	Name   string           `json:"name"`
	Count  int64            `json:"count"`
	Time   int64            `json:"time_ns"`
	Errors map[string]int64 `json:"errors,omitempty"`
	Bytes  int64            `json:"bytes,omitempty"`
}

// SyscallsJSON returns the file of the calls that the kernel counted.
func SyscallsJSON(res *kernel.Result) []byte {
	f := SyscallFile{Header: Header{syscallsKind, syscallsSchema}, Begin: res.Begin, End: res.End, Lost: res.SyscallsLost, Calls: []syscallLine{}}
	if res.SyscallsShare > 0 && res.SyscallsShare < 1 {
		f.Share = res.SyscallsShare
	}
	for _, c := range res.Syscalls {
		f.Calls = append(f.Calls, syscallLine{Name: c.Name, Count: c.Count, Time: int64(c.Time), Errors: c.Errors, Bytes: c.Bytes})
	}
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		panic(err) // strings and numbers always have a JSON
	}
	return append(text, '\n')
}

// ParseSyscalls reads all of it or nothing.
func ParseSyscalls(r io.Reader) (*model.Syscalls, *SyscallFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSyscallsFile+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxSyscallsFile {
		return nil, nil, fmt.Errorf("it is larger than %d MiB", maxSyscallsFile>>20)
	}
	var f SyscallFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, nil, err
	}
	if f.Kind != syscallsKind || f.Schema > syscallsSchema {
		return nil, nil, fmt.Errorf("written by a newer gowhy (schema %d)", f.Schema)
	}
	if f.End.Before(f.Begin) || len(f.Calls) > maxSyscallNames || !(f.Share >= 0 && f.Share <= 1) {
		return nil, nil, fmt.Errorf("it makes no sense")
	}
	calls := &model.Syscalls{Window: f.End.Sub(f.Begin), Lost: max(0, f.Lost), Share: f.Share}
	for _, c := range f.Calls {
		if c.Count < 0 || c.Time < 0 {
			return nil, nil, fmt.Errorf("%q has a negative count or time", c.Name)
		}
		calls.Calls = append(calls.Calls, model.Syscall{Name: c.Name, Count: c.Count, Time: time.Duration(c.Time), Errors: c.Errors, Bytes: max(0, c.Bytes)})
	}
	slices.SortStableFunc(calls.Calls, func(a, b model.Syscall) int { return cmp.Compare(b.Count, a.Count) })
	return calls, &f, nil
}
