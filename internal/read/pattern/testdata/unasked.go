package testdata

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// made-unasked

type order struct {
	id    int
	lines []string
}

func (o *order) String() string { return fmt.Sprint(o.id, o.lines) }

func describe(r *http.Request) string {
	text, err := httputil.DumpRequest(r, true)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func passOn(r *http.Request, send func(*http.Request) (int, error), keep func(string)) error {
	text := describe(r) // sick made-unasked testdata.describe
	status, err := send(r)
	if err != nil {
		keep(text)
		return err
	}
	if status >= 400 {
		keep(text)
	}
	return nil
}

func accept(o *order, store func(*order) error) error {
	what := fmt.Sprintf("order %d of %v", o.id, o.lines) // sick made-unasked fmt.Sprintf
	if err := store(o); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func levels(l *slog.Logger, o *order) {
	text, _ := json.Marshal(o.lines) // sick made-unasked encoding/json.Marshal
	if l.Enabled(nil, slog.LevelDebug) {
		l.Debug(string(text))
	}
}

func always(o *order, store func(string) error) error {
	what := fmt.Sprintf("order %d of %v", o.id, o.lines) // well made-unasked fmt.Sprintf
	if err := store(what); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func found(known map[string]int, o *order) int {
	key := fmt.Sprintf("%d %v", o.id, o.lines) // alike made-unasked fmt.Sprintf
	if len(known) > 3 {
		return known[key]
	}
	return 0
}

func read(f func([]byte) (int, error), b []byte) error {
	n, err := f(b) // alike made-unasked testdata.f
	if err != nil {
		return fmt.Errorf("behind %d: %w", n, err)
	}
	return nil
}

func asked(o *order, store func(*order) error) error {
	if err := store(o); err != nil {
		what := fmt.Sprintf("order %d of %v", o.id, o.lines) // well made-unasked fmt.Sprintf
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// kept-call

type signer struct {
	pem     []byte
	tenants map[string][]byte
	salt    []byte
	seen    []byte
	dir     string
}

func newSigner(pem []byte) *signer {
	s := &signer{}
	s.pem = pem
	s.seen = pem
	return s
}

func parseKey(text []byte) (any, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM")
	}
	return x509.ParsePKCS8PrivateKey(block.Bytes)
}

func (s *signer) key() (any, error) {
	return parseKey(s.pem) // sick kept-call testdata.parseKey
}

func (s *signer) tenant(name string) (any, error) {
	return parseKey(s.tenants[name]) // sick kept-call testdata.parseKey
}

func (s *signer) tag() [32]byte {
	return sha256.Sum256(s.salt) // sick kept-call crypto/sha256.Sum256
}

func (s *signer) within(name string) (bool, error) {
	base, err := filepath.EvalSymlinks(s.dir) // sick kept-call path/filepath.EvalSymlinks
	if err != nil {
		return false, err
	}
	path, err := filepath.EvalSymlinks(filepath.Join(s.dir, name)) // alike kept-call path/filepath.EvalSymlinks
	return strings.HasPrefix(path, base), err
}

func (s *signer) given(text []byte) (any, error) {
	return parseKey(text) // well kept-call testdata.parseKey
}

func (s *signer) replaced(text []byte) (any, error) {
	s.seen = text
	return parseKey(s.seen) // alike kept-call testdata.parseKey
}

func load(s *signer) (any, error) {
	return parseKey(s.pem) // alike kept-call testdata.parseKey
}

// sweep-per-call

type ticket struct{ until time.Time }

type tickets struct {
	mu   sync.Mutex
	of   map[string]ticket
	list []ticket
	n    int
}

func (t *tickets) sweep(now time.Time) {
	for name, of := range t.of {
		if of.until.Before(now) {
			delete(t.of, name)
		}
	}
}

func (t *tickets) get(name string) (ticket, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(time.Now()) // sick sweep-per-call testdata.(*tickets).sweep
	of, ok := t.of[name]
	return of, ok
}

func (t *tickets) has(name string) bool {
	now := time.Now()
	for name, of := range t.of { // sick sweep-per-call internal/runtime/maps.(*Iter).Next
		if of.until.Before(now) {
			delete(t.of, name)
		}
	}
	_, ok := t.of[name]
	return ok
}

func (t *tickets) add(name string, of ticket) int {
	maps.DeleteFunc(t.of, func(_ string, of ticket) bool { return of.until.IsZero() }) // alike sweep-per-call maps.DeleteFunc
	t.of[name] = of
	return len(t.of)
}

func (t *tickets) now() int {
	t.sweep(time.Now()) // alike sweep-per-call testdata.(*tickets).sweep
	return len(t.of)
}

type parser struct{ found map[string]int }

func (p *parser) begin() { p.found = map[string]int{} }

func (p *parser) parse(text string) (map[string]int, error) {
	p.begin()
	p.found[text]++
	for k, n := range p.found { // alike sweep-per-call internal/runtime/maps.(*Iter).Next
		if n == 0 {
			delete(p.found, k)
		}
	}
	return p.found, nil
}

func (t *tickets) seldom(name string) bool {
	if t.n++; t.n%1000 == 0 {
		t.sweep(time.Now()) // alike sweep-per-call testdata.(*tickets).sweep
	}
	_, ok := t.of[name]
	return ok
}

func (t *tickets) run(every time.Duration) {
	for range time.Tick(every) {
		t.sweep(time.Now()) // well sweep-per-call testdata.(*tickets).sweep
	}
}

// key-in-compare by a function

func startOf(o *order) time.Time {
	t, _ := time.Parse(time.RFC3339, o.lines[0])
	return t
}

func number(o *order) int { return o.id }

func byStart(list []*order) {
	slices.SortFunc(list, func(a, b *order) int {
		return startOf(a).Compare(startOf(b)) // sick key-in-compare testdata.startOf
	})
	slices.SortFunc(list, func(a, b *order) int {
		return number(a) - number(b) // alike key-in-compare testdata.number
	})
}

// context-chain

type follower struct {
	base  context.Context
	known map[int]context.Context
}

func (f *follower) take(of int, litres int) any {
	ctx, ok := f.known[of]
	if !ok {
		ctx = context.WithValue(f.base, "of", of)
		f.known[of] = ctx
	}
	ctx = context.WithValue(ctx, "litres", litres)
	f.known[of] = ctx
	return ctx.Value("of") // sick context-chain context.(*valueCtx).Value
}

func other(ctx context.Context) any {
	return ctx.Value("of") // sick context-chain context.(*valueCtx).Value
}

type labelled struct{ labels map[string]string }

func cleaned(id string, l *labelled) map[string]string {
	for name, value := range l.labels { // alike sweep-per-call internal/runtime/maps.(*Iter).Next
		if value == id {
			delete(l.labels, name)
		}
	}
	return l.labels
}
