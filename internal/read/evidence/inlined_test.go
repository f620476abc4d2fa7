package evidence

import (
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

func TestNameLiterals(t *testing.T) {
	const inCatalog, inWeb, inSlices = "/src/shop/catalog/c.go", "/src/shop/web/w.go", "/usr/local/go/src/slices/iter.go"
	l := &loader{m: &model.Model{}}
	for _, named := range []model.Frame{
		{Func: "shop/catalog.Search", File: inCatalog, Line: 1}, {Func: "shop/web.(*Handler).ServeHTTP", File: inWeb, Line: 1},
		{Func: "gopkg.in/yaml%2ev2.Unmarshal", File: "/mod/yaml/y.go"}, {Func: "slices.Sort", File: inSlices, Line: 1},
		{Func: "shop/mixed.Do", File: "/src/shop/mixed/m.go"}, {Func: "shop/mixed_test.Do", File: "/src/shop/mixed/m_test.go"},
	} {
		l.m.Stacks.Add([]model.Frame{named})
	}
	for _, c := range []struct{ name, file, want string }{
		{"shop/web.conditions.Resembles.func1", inCatalog, "shop/catalog.Resembles.func1"},
		{"shop/web.(*Handler).ServeHTTP.Resembles.func1", inCatalog, "shop/catalog.Resembles.func1"},
		{"shop/web.serve.(*Index).Walk.func2", inCatalog, "shop/catalog.(*Index).Walk.func2"},
		{"shop/web.serve.Resembles.func1.2", inCatalog, "shop/catalog.Resembles.func1.2"},
		{"shop/web.next.Values[go.shape.[]float64,go.shape.float64].func1", inSlices, "slices.Values.func1"},
		{"shop/web.(*Handler).ServeHTTP.func1", inWeb, "shop/web.(*Handler).ServeHTTP.func1"}, // its own
		{"shop/web.serve.Parse.func1", "/mod/yaml/y.go", "gopkg.in/yaml%2ev2.Parse.func1"},
		{"shop/web.serve", inCatalog, "shop/web.serve"},                                // no literal
		{"shop/web.serve.func1", inCatalog, "shop/web.serve.func1"},                    // of no inlined function
		{"shop/web.serve.Do.func1", "/src/shop/mixed/m.go", "shop/web.serve.Do.func1"}, // a folder of two packages
		{"shop/web.serve.Do.func1", "/src/elsewhere/e.go", "shop/web.serve.Do.func1"},  // of which nothing else is known
	} {
		s := l.m.Stacks.Add([]model.Frame{{Func: c.name, File: c.file, Line: 7}, {Func: c.name, File: c.file, Line: 7}})
		l.nameLiterals()
		if got := l.m.Stacks.Frames(s); got[0].Func != c.want || got[1].Func != c.name {
			t.Errorf("%s in %s is %s, and %s outermost; want %s and the same", c.name, c.file, got[0].Func, got[1].Func, c.want)
		}
	}
}
