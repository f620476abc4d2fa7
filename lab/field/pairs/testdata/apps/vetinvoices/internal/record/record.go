// Package record fills structs from rows by their tags.
package record

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
)

// Mapper assigns columns to fields.
type Mapper struct {
	Planned bool
	plans   sync.Map // of reflect.Type to map[string][]int
}

func find(t reflect.Type, column string) []int {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			if index := find(f.Type, column); index != nil {
				return append([]int{i}, index...)
			}
		} else if f.Tag.Get("col") == column {
			return f.Index
		}
	}
	return nil
}

func (m *Mapper) plan(t reflect.Type, columns []string) map[string][]int {
	if p, ok := m.plans.Load(t); ok {
		return p.(map[string][]int)
	}
	p := make(map[string][]int, len(columns))
	for _, c := range columns {
		p[c] = find(t, c)
	}
	m.plans.Store(t, p)
	return p
}

// Fill sets the fields of dst, a pointer to a struct, from a row.
func (m *Mapper) Fill(dst any, columns, row []string) error {
	v := reflect.ValueOf(dst).Elem()
	t := v.Type()
	index := func(column string) []int { return find(t, column) }
	if m.Planned {
		p := m.plan(t, columns)
		index = func(column string) []int { return p[column] }
	}
	for i, c := range columns {
		if err := set(v, index(c), c, row[i]); err != nil {
			return err
		}
	}
	return nil
}

func set(v reflect.Value, index []int, column, text string) error {
	if index == nil {
		return fmt.Errorf("column %s: no field", column)
	}
	f := v.FieldByIndex(index)
	switch f.Kind() {
	case reflect.String:
		f.SetString(text)
	case reflect.Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("column %s: %w", column, err)
		}
		f.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("column %s: %w", column, err)
		}
		f.SetFloat(x)
	case reflect.Bool:
		f.SetBool(text == "true")
	}
	return nil
}
