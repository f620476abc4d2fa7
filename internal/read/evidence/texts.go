package evidence

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A textSection reads the profiles in text form that one writer put into a log.
type textSection struct {
	f      *finder
	writer string
	kind   textKind
	p      *textParser                   // nil outside of a profile
	found  map[model.Source][]*pprofFile // the first and the last
	count  map[model.Source]int
}

// textsOf returns where the profiles of one writer are read.
func (f *finder) textsOf(writer string) section {
	i := slices.IndexFunc(f.texts, func(s *textSection) bool { return s.writer == writer })
	if i < 0 {
		i = len(f.texts)
		f.texts = append(f.texts, &textSection{f: f, writer: writer, found: map[model.Source][]*pprofFile{}, count: map[model.Source]int{}})
	}
	return f.texts[i]
}

// textRecord is a line of a profile in text form that is no frame.
var textRecord = regexp.MustCompile(`^(?:\d[\d :\[\]]* @(?: 0x[0-9a-f]+)*|(?:cycles/second|sampling period)=\d+)\s*$`)

// goroutineGroup is the first line of goroutines with one stack. People paste the groups
// that they mean, and leave the profile's first line out.
var goroutineGroup = regexp.MustCompile(`^\d+ @ 0x[0-9a-f]+(?: 0x[0-9a-f]+)*\s*$`)

func (s *textSection) line(line []byte, _ bool) (bool, error) {
	if s.p == nil && goroutineGroup.Match(line) {
		s.kind = textKinds()[0]
		s.p = newTextParser(s.kind)
	}
	if kind, ok := textKindOf(line); ok {
		err := s.end()
		s.kind, s.p = kind, newTextParser(kind)
		if at := s.f.lineTime(); !at.IsZero() {
			s.p.p.TimeNanos = at.UnixNano()
		}
		s.p.line(string(line))
		return true, err
	}
	switch {
	case s.p == nil:
		return false, nil
	case len(bytes.TrimSpace(line)) == 0:
		return true, nil
	case line[0] != '#' && !textRecord.Match(line) && !textFrameLine.Match(line):
		return false, nil
	}
	s.p.line(string(line))
	return true, nil
}

func (s *textSection) end() error {
	if s.p == nil {
		return nil
	}
	s.p.flush()
	src := s.kind.source
	if s.count[src]++; len(s.found[src]) == 2 {
		s.found[src] = s.found[src][:1]
	}
	s.found[src] = append(s.found[src], s.p.file(s.f.name, s.f.member))
	s.p = nil
	return nil
}

// finishTexts gives the loader the profiles that were found, but not of goroutines
// where there are dumps, which say more, nor any that a recording's program printed.
func (f *finder) finishTexts(dumps bool) (found bool, err error) {
	if f.member != "" {
		return false, nil
	}
	for _, k := range textKinds() {
		i := slices.IndexFunc(f.texts, func(s *textSection) bool { return s.count[k.source] > 0 })
		if i < 0 {
			continue
		}
		if dumps && k.source == model.GoroutineProfile {
			f.l.note("%s has goroutine profiles too, which were left out: its goroutine dumps say more", f.name)
			continue
		}
		found = true
		if err := f.finishText(k, f.texts[i]); err != nil {
			return true, err
		}
	}
	return found, nil
}

func (f *finder) finishText(k textKind, s *textSection) error {
	list := s.found[k.source]
	if k.once {
		list = list[len(list)-1:]
	}
	if n := s.count[k.source]; n > len(list) {
		f.l.note("%s has %d profiles of one kind, %q; %s", f.name, n, k.begin, map[int]string{1: "the last is used", 2: "the first and the last are used"}[len(list)])
	}
	for _, p := range list {
		if err := f.l.foldText(k.source, p); err != nil {
			return err
		}
	}
	return nil
}
