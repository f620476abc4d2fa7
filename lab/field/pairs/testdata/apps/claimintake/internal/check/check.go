// Package check verifies values by the tags of their fields.
package check

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func Value(v any) error { return walk(reflect.ValueOf(v)) }

func walk(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		return walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if err := walk(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			err := walk(v.Field(i))
			if rules := f.Tag.Get("check"); rules != "" {
				err = field(f.Name, v.Field(i), rules)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func field(name string, v reflect.Value, rules string) error {
	for _, r := range strings.Split(rules, ",") {
		key, arg, _ := strings.Cut(r, "=")
		if !holds(v, key, arg) {
			return fmt.Errorf("field %s: %s", name, r)
		}
	}
	return nil
}

func holds(v reflect.Value, key, arg string) bool {
	switch key {
	case "required":
		return !v.IsZero()
	case "max":
		n, err := strconv.Atoi(arg)
		return err == nil && len(v.String()) <= n
	case "digits":
		return strings.IndexFunc(v.String(), func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	case "text":
		return strings.IndexFunc(v.String(), func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	case "oneof":
		return slices.Contains(strings.Split(arg, "/"), v.String())
	case "range":
		lo, hi, _ := strings.Cut(arg, ":")
		a, err1 := strconv.ParseInt(lo, 10, 64)
		b, err2 := strconv.ParseInt(hi, 10, 64)
		return err1 == nil && err2 == nil && v.Int() >= a && v.Int() <= b
	}
	return false
}
