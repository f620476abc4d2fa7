package evidence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// FuzzText feeds every reader of text with whatever there is: the sniffer is
// asked first, as for a file, and then each reader gets it all the same.
func FuzzText(f *testing.F) {
	for _, glob := range []string{"testdata/*.log", "testdata/*.txt", "testdata/text-*/*.txt", "testdata/delve/*.txt"} {
		names, err := filepath.Glob(glob)
		if err != nil || len(names) == 0 {
			f.Fatalf("files of %s: %v; want some", glob, err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b[:min(len(b), 4<<10)])
		}
	}
	f.Add([]byte("p: go1.26.8\n\tpath\texample.com/p\n\tbuild\t-compiler=gc\n\tbuild")) // a line without its value
	f.Add([]byte("main.main;main.work_[k] 12\na;b 9223372036854775807\na;b 1\n"))
	f.Add([]byte("\x1b[32mINFO\x1b[0m up\n\x1b[2;37mgc 1 @0.012s 2%\x1b[0m: 0.018+1.3+0.076 ms clock, 0.054+0.35/1.0/3.0+0.23 ms cpu, 4->4->3 MB, 5 MB goal, 4 P\n\x1b["))
	f.Add([]byte("SCHED 9ms: ... runqueue=3 [0 2]\nSCHED 10ms: gomaxprocs=1 idleprocs=0 threads=2 spinningthreads=0 idlethreads=0 runqueue=1 gcwaiting=0 nmidlelocked=0 stopwait=0 sysmonwait=0\n" +
		"  P0: status=1 schedtick=1 syscalltick=0 m=0 runqsize=4 gfreecnt=0\n  G1: status=4(chan receive) m=0\ngc 2 @0.1s … 4->4->3 MB, 5 MB goal\n"))
	f.Add([]byte(`{"log":"gc 1 @0.1s","time":"2024-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"kind":"gowhy proc","schema":1}` + "\n{}\n"))
	f.Add([]byte(`{"kind":"gowhy metrics","schema":1,"scalars":["a"],"histograms":[{"name":"h","bounds":[null,0,1,null]}]}` + "\n" + `{"t":1,"v":[1],"h":[[1,2,3]]}`))
	f.Add([]byte(`{"kind":"gowhy syscalls","schema":1,"calls":[{"name":"read","count":1}]}`))
	f.Add([]byte(`{"kind":"gowhy holders","schema":1,"looks":[{"holders":[{"kind":"global","name":"main.cache","bytes":9,"path":[{"type":"string","use":0.5}]}],"types":[{"name":"string"}]},{"holders":[{"name":"main.cache","bytes":12}]}]}`))
	dump := goroutinesOf(3, "select")
	for _, wrap := range wrappings {
		f.Add([]byte(wrap(dump)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range formats() {
			if format.text == nil {
				continue
			}
			format.text(b[:min(len(b), headLen)])
			l := newLoader(t.Context(), Options{})
			var p *problem.Error
			if err := format.read(l, source{name: "x", r: bytes.NewReader(b)}); err != nil {
				if !errors.As(err, &p) {
					t.Fatalf("reading %s: error %v, want a problem", format.what, err)
				}
				continue
			}
			if _, err := l.finish(); err != nil && !errors.As(err, &p) {
				t.Fatalf("finishing %s: error %v, want a problem", format.what, err)
			}
		}
	})
}

// FuzzProfile feeds the readers of profiles in pprof's format.
func FuzzProfile(f *testing.F) {
	for _, name := range []string{"heap", "allocs", "goroutine", "threadcreate", "block", "mutex"} {
		f.Add(snapshotOf(f, name, nil))
	}
	f.Add(cpuProfile(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p *problem.Error
		l := newLoader(t.Context(), Options{})
		err := l.source(source{name: "x", r: bytes.NewReader(b)})
		if err == nil {
			_, err = l.finish()
		}
		if err != nil && !errors.As(err, &p) {
			t.Fatal(err)
		}
	})
}

// FuzzLayers feeds a file as a whole, with whatever is around its text.
func FuzzLayers(f *testing.F) {
	for _, wrap := range wrappings {
		f.Add([]byte(wrap(goroutinesOf(2, "select"))))
	}
	f.Add([]byte("\xff\xfea"))
	f.Add([]byte("\xfe\xff\xd8\x3d\xde\x00\xd8"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p *problem.Error
		l := newLoader(t.Context(), Options{})
		err := l.source(source{name: "x", size: int64(len(b)), at: bytes.NewReader(b), r: bytes.NewReader(b)})
		if err == nil {
			_, err = l.finish()
		}
		if err != nil && !errors.As(err, &p) {
			t.Fatal(err)
		}
	})
}
