// Package clerk files the documents of a day.
package clerk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"casefolders/internal/folders"
	"casefolders/internal/seal"
)

// Result of a day.
type Result struct {
	Filed, PutOff, Failed int
	Slowest               time.Duration
}

type document struct {
	folder int
	title  string
	came   time.Time
}

// Office is a room of clerks with one tray.
type Office struct {
	cabinet *folders.Cabinet
	key     *seal.Key
	clerks  int
	tray    chan document

	mu  sync.Mutex
	res Result
}

func NewOffice(c *folders.Cabinet, key *seal.Key, clerks int) *Office {
	return &Office{cabinet: c, key: key, clerks: clerks, tray: make(chan document, 512)}
}

// Run files documents at the rate.
func (o *Office) Run(rate int, d time.Duration) Result {
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for i := range o.clerks {
		wg.Go(func() { o.work(rand.New(rand.NewPCG(uint64(i), 4)), end) })
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		// a few cases are in the news and get most of the post
		f := rand.IntN(60)
		if rand.IntN(4) == 0 {
			f = rand.IntN(4)
		}
		o.tray <- document{folder: f, title: fmt.Sprintf("Brief no. %d", n), came: time.Now()}
	}
	close(o.tray)
	wg.Wait()
	return o.res
}

func (o *Office) work(rnd *rand.Rand, end time.Time) {
	var later []document
	for doc := range o.tray {
		if !o.file(doc, rnd) {
			later = append(later, doc)
		}
		if len(later) >= 4 {
			if o.file(later[0], rnd) {
				later = append(later[:0], later[1:]...)
			}
		}
		if time.Now().After(end) {
			return
		}
	}
}

// file reports false when the document has to be put off.
func (o *Office) file(doc document, rnd *rand.Rand) bool {
	text := page(rnd)
	e := folders.Entry{Title: doc.title, Seal: o.key.Pages(text, 2048), Filed: time.Now()}
	err := o.cabinet.Add(doc.folder, e, func() ([]byte, error) {
		time.Sleep(time.Duration(5+rnd.IntN(10)) * time.Millisecond)
		return text, nil
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case errors.Is(err, folders.ErrBusy):
		o.res.PutOff++
		return false
	case err != nil:
		o.res.Failed++
	default:
		o.res.Filed++
		o.res.Slowest = max(o.res.Slowest, time.Since(doc.came))
	}
	return true
}

func page(rnd *rand.Rand) []byte {
	text := make([]byte, 12<<10+rnd.IntN(20<<10))
	for i := range text {
		text[i] = byte('a' + rnd.IntN(26))
		if i%1800 == 1799 {
			text[i] = '\f'
		}
	}
	return text
}
