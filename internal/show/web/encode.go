package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"reflect"
	"sync"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// encode returns the JSON of an answer. The page is written for lists that are there:
// one without members is [] and never null. Names are escaped so that the JSON
// can stand in HTML as well.
func encode(v any) ([]byte, error) {
	if v == nil {
		return []byte("null\n"), nil
	}
	v = withLists(v)
	var b bytes.Buffer
	e := json.NewEncoder(&b) // escapes <, > and &
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// completeMu keeps two requests from completing the same answer, where an
// endpoint gives the same value to both.
var completeMu sync.Mutex

// withLists fills the nil lists of a value and returns it, or a pointer to a
// copy where it could not be changed in place.
func withLists(v any) any {
	completeMu.Lock()
	defer completeMu.Unlock()
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Pointer {
		p := reflect.New(rv.Type())
		p.Elem().Set(rv)
		rv = p
	}
	fillLists(rv)
	return rv.Interface()
}

// complete fills the lists of a diagnosis, which every answer about it shares.
func complete(d *diagnosis.Diagnosis) {
	if d != nil {
		fillLists(reflect.ValueOf(d))
	}
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && listsIn(f.Type()) {
				fillLists(f)
			}
		}
	case reflect.Slice:
		if v.Type() == rawMessage {
			return // null says that there is none
		}
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if listsIn(v.Type().Elem()) {
			for i := range v.Len() {
				fillLists(v.Index(i))
			}
		}
	}
}

// hasLists remembers which types have lists in them; it spares a flame graph's
// columns a walk.
var hasLists sync.Map // of reflect.Type to bool

func listsIn(t reflect.Type) bool {
	if has, ok := hasLists.Load(t); ok {
		return has.(bool)
	}
	hasLists.Store(t, true) // where a type holds itself, until it is known
	has := false
	switch t.Kind() {
	case reflect.Slice:
		has = t != rawMessage
	case reflect.Pointer:
		has = listsIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			has = has || t.Field(i).IsExported() && listsIn(t.Field(i).Type)
		}
	}
	hasLists.Store(t, has)
	return has
}

// packedFrom is the size from which an answer is packed: below it the head that
// gzip adds and the time are worth more than the bytes.
const packedFrom = 1 << 10

var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // fails for a wrong level only
	return z
}}

// pack packs an answer for the wire, which with an SSH tunnel is a slow one.
func pack(data []byte) []byte {
	var b bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&b)
	_, _ = z.Write(data) // to memory
	_ = z.Close()
	return b.Bytes()
}
