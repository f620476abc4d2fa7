package testdata

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// read-stored

type document struct {
	revision int
	body     string
}

type library struct {
	mu   sync.RWMutex
	docs map[string]document
}

func (l *library) put(name, body string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.docs[name] = document{l.docs[name].revision + 1, body}
}

func (l *library) get(name string) (document, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	d, ok := l.docs[name]
	if !ok {
		return document{}, fmt.Errorf("no document %q", name)
	}
	return d, nil
}

type schedule struct{ fees []string }

func parseSchedule(d document) (*schedule, error) {
	s := &schedule{}
	in := bufio.NewScanner(strings.NewReader(d.body))
	for in.Scan() {
		if line := strings.TrimSpace(in.Text()); line != "" {
			s.fees = append(s.fees, line)
		}
	}
	slices.Sort(s.fees)
	return s, in.Err()
}

func readSchedule(d document) (*schedule, error) {
	if _, err := os.Stat(d.body); err != nil {
		return nil, err
	}
	return parseSchedule(d)
}

type entry struct {
	revision int
	sched    *schedule
}

type tariffs struct {
	docs  *library
	links map[string]string
	held  map[string]entry
	jobs  map[string]string
	plans map[string][]byte
}

func (t *tariffs) of(plan string) (*schedule, error) {
	doc, err := t.docs.get(plan)
	if err != nil {
		return nil, err
	}
	return parseSchedule(doc) // sick read-stored testdata.parseSchedule
}

func (t *tariffs) held1(plan string) (*schedule, error) {
	doc, err := t.docs.get(plan)
	if err != nil {
		return nil, err
	}
	if e, ok := t.held[plan]; ok && e.revision == doc.revision {
		return e.sched, nil
	}
	s, err := parseSchedule(doc) // well read-stored testdata.parseSchedule
	if err == nil {
		t.held[plan] = entry{doc.revision, s}
	}
	return s, err
}

func (t *tariffs) fresh(doc document) (*schedule, error) {
	return parseSchedule(doc) // alike read-stored testdata.parseSchedule
}

func (t *tariffs) onDisk(plan string) (*schedule, error) {
	doc, err := t.docs.get(plan)
	if err != nil {
		return nil, err
	}
	return readSchedule(doc) // alike read-stored testdata.readSchedule
}

func (t *tariffs) load(plan string) (*schedule, error) {
	doc, err := t.docs.get(plan)
	if err != nil {
		return nil, err
	}
	return parseSchedule(doc) // alike read-stored testdata.parseSchedule
}

func (t *tariffs) kept(plan string) (*schedule, error) {
	s, err := t.load(plan)
	if err == nil {
		t.held[plan] = entry{0, s}
	}
	return s, err
}

func (t *tariffs) link(name, text string) { t.links[name] = text }

func (t *tariffs) target(name string) (*url.URL, error) {
	return url.Parse(t.links[name]) // sick read-stored net/url.Parse
}

func (t *tariffs) submit(id, text string) { t.jobs[id] = text }

func (t *tariffs) done(id string) { delete(t.jobs, id) }

func (t *tariffs) work(id string) (*url.URL, error) {
	return url.Parse(t.jobs[id]) // alike read-stored net/url.Parse
}

func (t *tariffs) plan(name string, text []byte) { t.plans[name] = text }

func (t *tariffs) price(name, code string) (int, error) {
	var prices map[string]int
	if err := json.Unmarshal(t.plans[name], &prices); err != nil { // sick read-stored encoding/json.Unmarshal
		return 0, err
	}
	return prices[code], nil
}

func (t *tariffs) replaced(name string, text []byte) (map[string]int, error) {
	t.plans[name] = text
	var prices map[string]int
	err := json.Unmarshal(t.plans[name], &prices) // alike read-stored encoding/json.Unmarshal
	return prices, err
}

type settings struct {
	Texts map[string][]byte
}

func (s *settings) put(name string, text []byte) { s.Texts[name] = text }

func (s *settings) read(name string) (map[string]int, error) {
	var values map[string]int
	err := json.Unmarshal(s.Texts[name], &values) // alike read-stored encoding/json.Unmarshal
	return values, err
}
