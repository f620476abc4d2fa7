// Package chart has charts of companies.
package chart

// A Post is held by somebody, and has posts below it.
type Post struct {
	Cents int
	Grade [4]int
	Below []*Post
}

// Line is a chart in which everybody has one below.
func Line(depth int) *Post {
	top := &Post{Cents: 100}
	for p := top; depth > 0; depth-- {
		next := &Post{Cents: 100 + depth, Grade: [4]int{depth, 1, 2, 3}}
		p.Below = append(p.Below, next)
		p = next
	}
	return top
}
