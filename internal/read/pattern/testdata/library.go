package testdata

import (
	"bytes"
	"context"
	"database/sql"
	"image"
	"image/draw"
	"image/jpeg"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// image-pixels

type window struct{ image.Image }

func paste(canvas *image.RGBA, part window) {
	draw.Draw(canvas, canvas.Bounds(), part, image.Point{}, draw.Over) // sick image-pixels image/draw.drawRGBA
}

func store(w io.Writer, picture image.Image) error {
	return jpeg.Encode(w, picture, nil) // sick image-pixels image/jpeg.toYCbCr
}

func pasteKnown(canvas, part *image.RGBA) {
	draw.Draw(canvas, canvas.Bounds(), part, image.Point{}, draw.Over) // well image-pixels image/draw.drawCopyOver
}

func pasteAndCount(canvas *image.RGBA, part window, count func(image.Image)) {
	count(part) // alike image-pixels image/draw.drawRGBA
}

// regexp-words

type wordFilter struct{ re *regexp.Regexp }

func newWordFilter(words []string) *wordFilter {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return &wordFilter{regexp.MustCompile(`(?i)\b(?:` + strings.Join(quoted, "|") + `)\b`)}
}

func (f *wordFilter) bad(text string) bool {
	return f.re.MatchString(text) // sick regexp-words regexp.(*Regexp).MatchString
}

func (f *wordFilter) badLine(line int) bool {
	return f.has(line) // well regexp-words testdata.(*wordFilter).has
}

func (f *wordFilter) has(line int) bool { return line > 0 }

// prepare-per-call

type loans struct {
	db       *sql.DB
	byReader *sql.Stmt
}

const question = "SELECT book FROM loans WHERE reader = ?"

func (l *loans) of(ctx context.Context, reader string) (*sql.Rows, error) {
	stmt, err := l.db.PrepareContext(ctx, question) // sick prepare-per-call database/sql.(*DB).PrepareContext
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	return stmt.QueryContext(ctx, reader)
}

func (l *loans) statement(ctx context.Context) (*sql.Stmt, error) {
	if l.byReader != nil {
		return l.byReader, nil
	}
	return l.db.PrepareContext(ctx, question) // sick prepare-per-call database/sql.(*DB).PrepareContext
}

func (l *loans) keep(ctx context.Context) (err error) {
	l.byReader, err = l.db.PrepareContext(ctx, question) // well prepare-per-call database/sql.(*DB).PrepareContext
	return err
}

func (l *loans) add(tx *sql.Tx, books []string) error {
	stmt, err := tx.Prepare("INSERT INTO loans VALUES (?)") // well prepare-per-call database/sql.(*Tx).Prepare
	if err != nil {
		return err
	}
	for _, b := range books {
		if _, err := stmt.Exec(b); err != nil {
			return err
		}
	}
	return stmt.Close()
}

func (l *loans) shared(known map[string]*sql.Stmt) error {
	stmt, err := l.db.Prepare(question) // alike prepare-per-call database/sql.(*DB).Prepare
	known[question] = stmt
	return err
}

// tags-per-value

func columns(v reflect.Value) (names []string) {
	t := v.Type()
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("column")) // sick tags-per-value reflect.StructTag.Get
	}
	return names
}

func values(v reflect.Value, names map[reflect.Type][]string) (list []any) {
	for i := range names[v.Type()] {
		list = append(list, v.Field(i).Interface()) // well tags-per-value reflect.Value.Interface
	}
	return list
}

type tagged map[string]string

func (t tagged) Get(name string) string { return t[name] }

func firstTag(t tagged) string {
	return t.Get("column") // alike tags-per-value testdata.tagged.Get
}

func columnOf(text string) string {
	return reflect.StructTag(text).Get("column") // alike tags-per-value reflect.StructTag.Get
}

// time-steps

type duty struct{ minutes, hours uint64 }

func (d *duty) fits(t time.Time) bool {
	return d.minutes&(1<<t.Minute()) != 0 && d.hours&(1<<t.Hour()) != 0
}

func (d *duty) next(t time.Time) (time.Time, bool) {
	end := t.AddDate(1, 0, 0)
	for t = t.Truncate(time.Minute); t.Before(end); t = t.Add(time.Minute) {
		if d.minutes&(1<<t.Minute()) != 0 && d.hours&(1<<t.Hour()) != 0 { // sick time-steps time.Time.Minute
			return t, true
		}
	}
	return time.Time{}, false
}

func (d *duty) count(from, to time.Time) (n int) {
	for from.Before(to) {
		if d.fits(from) { // sick time-steps testdata.(*duty).fits
			n++
		}
		from = from.Add(time.Hour)
	}
	return n
}

const unit = 6 * time.Second

func bandsOf(from, to time.Time, bands *[24]int) {
	for t := from; t.Before(to); t = t.Add(unit) {
		bands[t.Hour()]++ // sick time-steps time.Time.Hour
	}
}

func (d *duty) all(from, to time.Time) (list []time.Time) {
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		if d.fits(t) { // well time-steps testdata.(*duty).fits
			list = append(list, t)
		}
	}
	return list
}

func load(curve func(time.Time) float64, from, to time.Time) (sum float64) {
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		sum += curve(t) * float64(t.Hour()) // alike time-steps time.Time.Hour
	}
	return sum
}

func (d *duty) retry(t time.Time, ready func() bool) bool {
	for deadline := t.Add(time.Second); t.Before(deadline); t = time.Now() {
		if ready() && d.fits(t) { // alike time-steps testdata.(*duty).fits
			return true
		}
	}
	return false
}

// key-in-compare of a comparison with a name

type loan struct{ due, book string }

func dueOf(l *loan) time.Time {
	t, err := time.Parse(time.DateOnly, l.due)
	if err != nil {
		return time.Time{}
	}
	return t
}

func byDue(a, b *loan) int {
	return dueOf(a).Compare(dueOf(b)) // sick key-in-compare testdata.dueOf
}

func sameDay(a, b *loan) int {
	return dueOf(a).Compare(dueOf(b)) // alike key-in-compare testdata.dueOf
}

func inOrder(list []*loan) { slices.SortFunc(list, byDue) }

// repeated-call, a parameter at a time

type direct struct{ r *http.Request }

func (d direct) value(name string) string {
	return d.r.URL.Query().Get(name) // sick repeated-call net/url.(*URL).Query
}

func (d direct) page() string {
	return d.r.URL.Query().Get("page") // alike repeated-call net/url.(*URL).Query
}

// count-prefix

type lexer struct {
	src   string
	off   int
	lines []int
}

func (l *lexer) line() int {
	return 1 + strings.Count(l.src[:l.off], "\n") // sick count-prefix strings.Count
}

func (l *lexer) at(off int) int {
	before := l.src[:off]
	return 1 + strings.Count(before, "\n") // sick count-prefix strings.Count
}

func linesOf(text string, places []int) (lines []int) {
	for _, at := range places {
		lines = append(lines, strings.Count(text[:at], "\n")) // sick count-prefix strings.Count
	}
	return lines
}

func (l *lexer) all() int {
	return strings.Count(l.src, "\n") // well count-prefix strings.Count
}

func linesBefore(text string, at int) int {
	return strings.Count(text[:at], "\n") // alike count-prefix strings.Count
}

func linesRead(r io.Reader, buf []byte) (n int) {
	for {
		got, err := r.Read(buf)
		n += bytes.Count(buf[:got], []byte{'\n'}) // alike count-prefix bytes.Count
		if err != nil {
			return n
		}
	}
}

type place struct{ line, column int }

func (l *lexer) place(off int) place {
	p := place{1, 1}
	for _, r := range l.src[:off] { // sick count-prefix
		p.column++
		if r == '\n' {
			p.line++
			p.column = 1
		}
	}
	return p
}

func (l *lexer) lineOf(off int) (n int) {
	for i := 0; i < off; i++ { // sick count-prefix
		if l.src[i] == '\n' {
			n++
		}
	}
	return n
}

func (l *lexer) lines() (n int) {
	for _, r := range l.src { // well count-prefix
		if r == '\n' {
			n++
		}
	}
	return n
}

func (l *lexer) first(off int) int {
	for i := 0; i < off; i++ { // alike count-prefix
		if l.src[i] == '\n' {
			return i
		}
	}
	return off
}
