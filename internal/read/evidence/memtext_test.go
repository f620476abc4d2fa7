package evidence

import (
	"testing"
)

// Memory statistics as programs print them are those of one moment.
func TestMemText(t *testing.T) {
	const want = 100 << 20
	for _, text := range []string{
		"```\nHeapAlloc = 20 MiB\n Sys = 400.5 MiB\n HeapIdle = 300 MiB\n HeapInuse = 30 MiB\n HeapReleased = 200 MiB\n GCCPUFraction = 0.0005\n```\n",
		"HeapAlloc: 20971520\nSys: 419954688\nHeapIdle: 314572800\nHeapReleased: 209715200\n",
		"Alloc = 19 MiB\tSys = 300 MiB\tHeapIdle = 250 MiB\tHeapReleased = 0 B\nAlloc = 20 MiB\tSys = 400.5 MiB\tHeapIdle = 300 MiB\tHeapRelease = 200 MiB\n",
	} {
		m := load(t, Options{}, written(t, []byte(text)))
		free, _ := m.Metrics.Last("/memory/classes/heap/free:bytes")
		used, _ := m.Metrics.Last("/memory/classes/heap/objects:bytes")
		total, _ := m.Metrics.Last("/memory/classes/total:bytes")
		if free != want || used != 20<<20 || total != 400.5*(1<<20) {
			t.Errorf("%q: %g free, %g in use, %g in all", text, free, used, total)
		}
	}
	for _, text := range []string{
		"Threads = 4\nSys = 3 MiB\nName: 5\n",
		"starting\nlistening\nHeapAlloc = 1 MiB Sys = 3 MiB NextGC = 4 MiB\ngot a request\ndone\n",
		"", "HeapAlloc", "Alloc = = =",
	} {
		if isMemText([]byte(text)) {
			t.Errorf("%q is taken for memory statistics", text)
		}
	}
}

// FuzzMemText: any text is read without a panic, to amounts that are none below zero.
func FuzzMemText(f *testing.F) {
	f.Add("HeapIdle = 685.4 MiB\nSys: 9")
	f.Fuzz(func(t *testing.T, text string) {
		isMemText([]byte(text))
		fields := map[string]float64{}
		memLine([]byte(text), fields)
		for name, v := range fields {
			if !(v >= 0) || !isMemField(name) {
				t.Errorf("%s is %g", name, v)
			}
		}
	})
}
