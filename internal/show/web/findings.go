package web

import (
	"net/url"
	"reflect"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// findings answers GET api/findings: the diagnosis, and where the page shows
// what it rests on.
func (v *View) findings(url.Values) (any, error) {
	d, err := clipTexts(v.Diagnosis)
	if err != nil {
		return nil, err
	}
	return &Findings{Diagnosis: d, Links: v.Links(), Accounts: v.accountLinks()}, nil
}

// clipTexts returns a diagnosis whose texts are all short enough to be sent: itself,
// but where a recording has names of megabytes.
func clipTexts(d *diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) {
	if !hasLong(reflect.ValueOf(d)) {
		return d, nil
	}
	return copyDiagnosis(d)
}

func hasLong(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() > maxName
	case reflect.Pointer:
		return !v.IsNil() && hasLong(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if hasLong(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if hasLong(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if hasLong(k) || hasLong(v.MapIndex(k)) {
				return true
			}
		}
	}
	return false
}

// clipJSON cuts the strings of a JSON text to what is sent of a name.
func clipJSON(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); i++ {
		if data[i] != '"' {
			continue
		}
		cut, end := clipString(data, i+1)
		if cut < end {
			out = append(append(out, data[done:cut]...), "…"...)
			done = end
		}
		i = end
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// clipString returns where a string that begins at i is cut, and where its
// closing quote is. It is never cut inside of a character or an escape.
func clipString(data []byte, i int) (cut, end int) {
	begin := i
	cut = i
	for i < len(data) && data[i] != '"' {
		n := 1
		switch {
		case data[i] == '\\' && i+1 < len(data) && data[i+1] == 'u':
			n = 6
		case data[i] == '\\':
			n = 2
		case data[i] >= utf8.RuneSelf:
			_, n = utf8.DecodeRune(data[i:])
		}
		i = min(i+n, len(data))
		if i-begin <= maxName {
			cut = i
		}
	}
	return cut, i
}
