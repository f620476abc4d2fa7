package evidence

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// samplesOnly is the one column of profiles that do not tell time.
var samplesOnly = model.ValueType{Name: "samples", Unit: "count"}

// isFolded accepts a text whose lines are stacks, outermost frame first, with
// ";" between frames and a count at the end: what flame graphs are made from.
func isFolded(head []byte) bool {
	lines := bytes.Split(head, []byte("\n"))
	if len(lines) > 1 && len(head) >= headLen {
		lines = lines[:len(lines)-1] // the last is cut
	}
	deep := false
	for _, line := range lines {
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			continue
		}
		stack, _, ok := foldedLine(line)
		if !ok {
			return false
		}
		deep = deep || bytes.IndexByte(stack, ';') >= 0
	}
	return deep
}

func foldedLine(line []byte) (stack []byte, count int64, ok bool) {
	i := bytes.LastIndexByte(line, ' ')
	if i <= 0 {
		return nil, 0, false
	}
	count, err := strconv.ParseInt(string(line[i+1:]), 10, 64)
	stack = bytes.TrimSpace(line[:i])
	return stack, count, err == nil && count >= 0 && len(stack) > 0
}

// readFolded folds folded stacks as a CPU profile. What their counts count,
// they do not tell: it is taken for samples.
func (l *loader) readFolded(s source) error {
	if err := l.take(model.CPU, "CPU profile", s.name); err != nil {
		return err
	}
	t := newTally(samplesOnly)
	bad := 0
	err := l.lines(s, func(line []byte) error {
		text, count, ok := foldedLine(line)
		if !ok {
			if len(line) > 0 {
				bad++
			}
			return nil
		}
		frames, kernel := foldedFrames(string(text))
		stack, err := l.intern(s.name, frames)
		if err == nil {
			t.add(stack, modeLabel(kernel, nil), 1, count)
		}
		return err
	})
	if err != nil {
		return err
	}
	if bad > 0 {
		l.note("%s: %d lines are no stacks with a count", s.name, bad)
	}
	nameGroups(&l.m.Stacks, t.p)
	l.setCPU(t.p, zeroTime)
	return nil
}

// kernelMark is what stackcollapse puts behind the names of kernel functions.
const kernelMark = "_[k]"

// foldedFrames returns the frames, leaf first, and whether the leaf is in the
// kernel; it knows only where the names are marked.
func foldedFrames(stack string) (frames []model.Frame, kernel bool) {
	parts := strings.Split(stack, ";")
	for i := len(parts) - 1; i >= 0 && len(frames) < maxStackFrames; i-- {
		name, marked := strings.CutSuffix(parts[i], kernelMark)
		if len(frames) == 0 {
			kernel = marked
		}
		f := model.Frame{Func: clipName(strings.TrimSuffix(strings.TrimSuffix(name, "_[j]"), "_[i]"))}
		if marked {
			f.File = kernelFile
		}
		frames = append(frames, f)
	}
	return frames, kernel
}

// kernelFile stands in for the file of a function of the kernel.
const kernelFile = "[kernel]"

// modeLabel returns labels with the mode of a sample, when it was in the kernel.
func modeLabel(kernel bool, labels map[string]string) map[string]string {
	if !kernel {
		return labels
	}
	if labels == nil {
		labels = map[string]string{}
	}
	labels["mode"] = "kernel"
	return labels
}
