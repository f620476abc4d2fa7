package main

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"image"
	"image/draw"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What the standard library does the long way because of how it is asked.

// A window is an image that package draw does not know.
type window struct{ image.Image }

// drawn draws a picture over the canvas and returns a pixel of that.
func drawn(p image.Image) any {
	draw.Draw(canvas, canvas.Bounds(), p, image.Point{}, draw.Over)
	return canvas.RGBAAt(128, 128)
}

// A dueTime is one of the minutes of an hour of a day.
type dueTime struct{ hour, minute int }

func (d dueTime) fits(t time.Time) bool { return t.Hour() == d.hour && t.Minute() == d.minute }

// byMinute looks at each minute, next at the day and then at the one that fits.
func (d dueTime) byMinute(t time.Time) time.Time {
	for t = t.Add(time.Minute); !d.fits(t); t = t.Add(time.Minute) {
	}
	return t
}

func (d dueTime) next(t time.Time) time.Time {
	year, month, day := t.Date()
	at := time.Date(year, month, day, d.hour, d.minute, 0, 0, t.Location())
	if !at.After(t) {
		at = time.Date(year, month, day+1, d.hour, d.minute, 0, 0, t.Location())
	}
	return at
}

// A reader is what a library's table has of one.
type reader struct {
	ID    int    `json:"id" column:"reader_id"`
	Name  string `json:"name" column:"full_name"`
	Mail  string `json:"mail" column:"mail_address"`
	Books int    `json:"books" column:"books_out"`
}

func columnsOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("column"))
	}
	return names
}

func keptColumnsOf(t reflect.Type) []string {
	if names, ok := columns.Load(t); ok {
		return names.([]string)
	}
	names := columnsOf(t)
	columns.Store(t, names)
	return names
}

// A library is a driver of database/sql that has one book, in memory.
type library struct{}

func (library) Open(string) (driver.Conn, error)               { return library{}, nil }
func (library) Prepare(string) (driver.Stmt, error)            { return library{}, nil }
func (library) Begin() (driver.Tx, error)                      { return nil, driver.ErrSkip }
func (library) Close() error                                   { return nil }
func (library) NumInput() int                                  { return 1 }
func (library) Exec([]driver.Value) (driver.Result, error)     { return nil, driver.ErrSkip }
func (library) Query(args []driver.Value) (driver.Rows, error) { return &oneBook{}, nil }

type oneBook struct{ read bool }

func (*oneBook) Columns() []string { return []string{"title"} }
func (*oneBook) Close() error      { return nil }
func (b *oneBook) Next(to []driver.Value) error {
	if b.read {
		return io.EOF
	}
	b.read, to[0] = true, "a title"
	return nil
}

func openLibrary() *sql.DB {
	sql.Register("library", library{})
	db, err := sql.Open("library", "")
	if err != nil {
		panic(err)
	}
	return db
}

const askTitle = "SELECT title FROM books WHERE id = ?"

func prepared() *sql.Stmt {
	stmt, err := books.Prepare(askTitle)
	if err != nil {
		panic(err)
	}
	return stmt
}

func title(stmt *sql.Stmt) (text string) {
	if err := stmt.QueryRow(17).Scan(&text); err != nil {
		panic(err)
	}
	return text
}

var (
	canvas   = image.NewRGBA(image.Rect(0, 0, 256, 256))
	picture  = image.NewRGBA(image.Rect(0, 0, 256, 256))
	due      = dueTime{17, 30}
	morning  = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	columns  sync.Map
	readerOf = reflect.TypeFor[reader]()
	books    = openLibrary()
	keptStmt = prepared()
	unwanted = numberedNames("bad", 200)
	wordsOf  = regexp.MustCompile(`(?i)\b(?:` + strings.Join(unwanted, "|") + `)\b`)
	wordSet  = setOf(unwanted)

	manyLines  = strings.Repeat("a line of some words\n", 200)
	lineStarts = startsOf(manyLines)
	comment    = strings.Repeat("these are words of somebody who means no harm ", 5)
)

// startsOf returns where the lines of a text begin.
func startsOf(text string) (starts []int) {
	for at := range len(text) {
		if at == 0 || text[at-1] == '\n' {
			starts = append(starts, at)
		}
	}
	return starts
}

func setOf(words []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func anyUnwanted(text string) bool {
	for word := range strings.FieldsFuncSeq(text, notLetter) {
		if wordSet[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

var libraries = []pair{
	{model.ImagePixels, "256 by 256 pixels, over others",
		func() any { return drawn(window{picture}) },
		func() any { return drawn(picture) }},
	{model.CountPrefix, "the line of each of 200 places in a text of 200 lines",
		func() any {
			last := 0
			for _, at := range lineStarts {
				last = 1 + strings.Count(manyLines[:at], "\n")
			}
			return last
		},
		func() any {
			last := 0
			for _, at := range lineStarts {
				before, _ := slices.BinarySearch(lineStarts, at)
				last = 1 + before
			}
			return last
		}},
	{model.TimeSteps, "minutes to the half hour eight hours later",
		func() any { return due.byMinute(morning) },
		func() any { return due.next(morning) }},
	{model.TagsPerValue, "a struct of four fields with two tags each",
		func() any { return columnsOf(readerOf)[3] },
		func() any { return keptColumnsOf(readerOf)[3] }},
	{model.PreparePerCall, "a row of a database in memory, without a network",
		func() any {
			stmt := prepared()
			defer stmt.Close()
			return title(stmt)
		},
		func() any { return title(keptStmt) }},
	{model.RegexpWords, fmt.Sprintf("%d words, and a text of %d bytes without any", len(unwanted), len(comment)),
		func() any { return wordsOf.MatchString(comment) },
		func() any { return anyUnwanted(comment) }},
}
