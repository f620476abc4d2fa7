package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// Join writes the pieces of one program's time, the earlier ones first, as one
// recording that begins with the first and ends with the last. A member that a
// piece lacks, or that is no sum of pieces, as an execution trace, is left out,
// and the recording says so. One piece is copied as it is. What was not recorded
// between the pieces stays unknown.
func Join(out string, pieces []string) error {
	if len(pieces) == 1 {
		return copyFile(out, pieces[0])
	}
	var list []*recording.Recording
	defer func() {
		for _, p := range list {
			p.Close()
		}
	}()
	for _, path := range pieces {
		p, err := recording.Open(path)
		if err != nil {
			return err
		}
		list = append(list, p)
		if p.Manifest == nil {
			return fmt.Errorf("%s has no manifest", path)
		}
	}
	if len(list) == 0 {
		return errors.New("there are no pieces to join")
	}
	w, err := recording.Create(out)
	if err != nil {
		return err
	}
	j := &joint{w: w, pieces: list, man: *list[0].Manifest}
	if err := j.join(); err != nil {
		return errors.Join(err, w.Discard())
	}
	return w.Finish(j.man)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// A joint is a recording that is made of pieces.
type joint struct {
	w      *recording.Writer
	pieces []*recording.Recording
	man    recording.Manifest
}

// joiners say how a member is made of the same member of all pieces.
var joiners = map[string]func(j *joint, member string) error{
	recording.ProcMember:           (*joint).logs,
	recording.MetricsMember:        (*joint).logs,
	recording.KernelMember:         (*joint).kernel,
	recording.OffCPUMember:         (*joint).kernel,
	recording.KernelTimesMember:    (*joint).times,
	recording.SyscallsMember:       (*joint).syscalls,
	recording.AllocsMember:         (*joint).differences,
	recording.BlockMember:          (*joint).differences,
	recording.MutexMember:          (*joint).differences,
	recording.WallMember:           (*joint).differences,
	recording.BuildMember:          (*joint).first,
	recording.HeapStartMember:      (*joint).first,
	recording.GoroutineStartMember: (*joint).first,
	recording.HeapEndMember:        (*joint).last,
	recording.GoroutineEndMember:   (*joint).last,
	recording.HoldersMember:        (*joint).last,
}

func (j *joint) join() error {
	j.manifest()
	for _, m := range artifact.Members {
		name, have := m.Name, 0
		for _, p := range j.pieces {
			if _, ok := memberOf(p, name); ok {
				have++
			}
		}
		join := joiners[name]
		switch {
		case have == 0:
		case join == nil:
			j.refuse(name, "it is of one piece of the time; keep that piece alone")
		case have < len(j.pieces):
			j.refuse(name, fmt.Sprintf("%d of %d pieces have it", have, len(j.pieces)))
		default:
			if err := join(j, name); err != nil {
				os.Remove(j.w.Path(name))
				j.refuse(name, err.Error())
			}
		}
	}
	if !j.any() {
		return errors.New("the pieces have no evidence in common")
	}
	return nil
}

// manifest makes one of those of the pieces.
func (j *joint) manifest() {
	last := j.pieces[len(j.pieces)-1].Manifest
	j.man.End = last.End
	j.man.Clock = slices.Concat(j.man.Clock, last.Clock)
	j.man.Refused = slices.Clone(j.man.Refused)
	cost := recording.Cost{}
	for _, p := range j.pieces {
		for _, r := range p.Manifest.Refused {
			if !slices.ContainsFunc(j.man.Refused, func(known recording.Refusal) bool { return known.Member == r.Member }) {
				j.man.Refused = append(j.man.Refused, r)
			}
		}
		if c := p.Manifest.Cost; c != nil {
			cost.RecorderCPU += c.RecorderCPU
			cost.TargetCPU += c.TargetCPU
			cost.TargetWall += c.TargetWall
		}
	}
	j.man.Cost = &cost
}

func (j *joint) refuse(member, why string) {
	j.man.Refused = append(j.man.Refused, recording.Refusal{Member: member, Why: why})
}

func (j *joint) any() bool {
	var have []recording.Member
	for _, m := range artifact.Members {
		if info, err := os.Stat(j.w.Path(m.Name)); err == nil && info.Size() > 0 {
			have = append(have, recording.Member{Name: m.Name})
		}
	}
	return evidenceAmong(have)
}

func memberOf(p *recording.Recording, name string) (recording.Member, bool) {
	i := slices.IndexFunc(p.Members, func(m recording.Member) bool { return m.Name == name })
	if i < 0 {
		return recording.Member{}, false
	}
	return p.Members[i], true
}

// open opens a member of every piece; close closes them.
func (j *joint) open(name string) (list []io.Reader, close func(), err error) {
	var opened []io.Closer
	close = func() {
		for _, r := range opened {
			r.Close()
		}
	}
	for _, p := range j.pieces {
		m, _ := memberOf(p, name)
		r, err := m.Open()
		if err != nil {
			close()
			return nil, nil, err
		}
		opened, list = append(opened, r), append(list, r)
	}
	return list, close, nil
}

func (j *joint) logs(name string) error {
	list, done, err := j.open(name)
	if err != nil {
		return err
	}
	defer done()
	f, err := os.Create(j.w.Path(name))
	if err != nil {
		return err
	}
	return errors.Join(artifact.JoinLogs(f, list...), f.Close())
}

func (j *joint) syscalls(name string) error {
	list, done, err := j.open(name)
	if err != nil {
		return err
	}
	defer done()
	text, err := artifact.JoinSyscalls(list...)
	if err != nil {
		return err
	}
	return j.w.Add(name, text)
}

func (j *joint) profiles(name string) (list []*profile.Profile, err error) {
	readers, done, err := j.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, r := range readers {
		p, err := profile.Parse(r)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (j *joint) kernel(name string) error {
	list, err := j.profiles(name)
	if err != nil {
		return err
	}
	return j.profile(name, artifact.JoinKernel(list))
}

// differences joins profiles of what happened meanwhile.
func (j *joint) differences(name string) error {
	list, err := j.profiles(name)
	if err != nil {
		return err
	}
	p, err := profile.Merge(list)
	if err != nil {
		return err
	}
	last := list[len(list)-1]
	p.TimeNanos, p.DurationNanos = list[0].TimeNanos, last.TimeNanos+last.DurationNanos-list[0].TimeNanos
	return j.profile(name, p)
}

func (j *joint) profile(name string, p *profile.Profile) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	return j.w.Add(name, b.Bytes())
}

// times are of the profiles that were joined before them.
func (j *joint) times(name string) error {
	readers, done, err := j.open(name)
	if err != nil {
		return err
	}
	defer done()
	var list []*artifact.SampleTimes
	for _, r := range readers {
		t, err := artifact.ParseTimes(r)
		if err != nil {
			return err
		}
		list = append(list, t)
	}
	f, err := os.Create(j.w.Path(name))
	if err != nil {
		return err
	}
	return errors.Join(artifact.JoinTimes(f, list), f.Close())
}

func (j *joint) first(name string) error { return j.copy(name, j.pieces[0]) }

func (j *joint) last(name string) error { return j.copy(name, j.pieces[len(j.pieces)-1]) }

func (j *joint) copy(name string, from *recording.Recording) error {
	m, _ := memberOf(from, name)
	r, err := m.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := os.Create(j.w.Path(name))
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
