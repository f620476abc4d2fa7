package artifact

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

// A line that cannot be is where reading ends.
func TestTimesBroken(t *testing.T) {
	var b bytes.Buffer
	res := &kernel.Result{CPU: make([]kernel.Sample, 3), Moments: make([]kernel.Moment, 5)}
	if err := WriteTimes(&b, res, recording.Anchor{}); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	for name, line := range map[string]string{
		"not of one length": `{"t":[1,2],"tid":[1],"cpu":[0],"s":[0]}`,
		"nothing":           `{}`,
		"backwards":         `{"t":[-1],"tid":[1],"cpu":[0],"s":[0]}`,
		"beyond all clocks": `{"t":[9223372036854775807],"tid":[1],"cpu":[0],"s":[0]}`,
		"no such stack":     `{"t":[1],"tid":[1],"cpu":[0],"s":[3]}`,
		"no such CPU":       `{"t":[1],"tid":[1],"cpu":[8192],"s":[0]}`,
		"no such thread":    `{"t":[1],"tid":[-5],"cpu":[0],"s":[0]}`,
		"no numbers":        `{"t":["a"],"tid":[1],"cpu":[0],"s":[0]}`,
		"too long":          `{"t":[` + strings.Repeat("0,", maxTimesLine) + `0]}`,
		"cut":               `{"t":[1],"tid":[`,
	} {
		times, err := ParseTimes(strings.NewReader(whole + line + "\n"))
		if err == nil || times == nil || len(times.List) != 5 {
			t.Errorf("%s: ParseTimes(): error %v, want one after 5 samples", name, err)
		}
	}
	ending, err := ParseTimes(strings.NewReader(whole + `{"t":[1],"tid":[-1],"cpu":[0],"s":[0]}` + "\n"))
	if err != nil || len(ending.List) != 6 || ending.List[5].Thread != model.EndedThread {
		t.Errorf("a thread that was ending: got %+v, %v; want a sixth sample of %d", ending, err, model.EndedThread)
	}
	for _, text := range []string{"", "{", "[]\n"} {
		if times, _ := ParseTimes(strings.NewReader(text)); times != nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestTimesBound(t *testing.T) {
	line := timesLine{Times: make([]int64, timesInLine), Threads: make([]int32, timesInLine), CPUs: make([]int32, timesInLine), Samples: make([]int32, timesInLine)}
	times := &SampleTimes{Head: TimesHeader{Stacks: 1}}
	for range maxTimes / timesInLine {
		if err := times.add(line); err != nil {
			t.Fatal(err)
		}
	}
	if times.add(line) == nil || len(times.List) != maxTimes {
		t.Errorf("%d samples of at most %d", len(times.List), maxTimes)
	}
}
