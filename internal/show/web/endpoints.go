package web

import (
	"net/url"
)

// endpoints are the questions about a run, by path. The server and the report file ask
// through this table.
//
// A query names its run by r and is answered by a method of the run's View: a
// value that is sent as JSON, or bytes of the endpoint's own form.
var endpoints = map[string]endpoint{
	"api/findings":        {value: (*View).findings},
	"api/timeline":        {value: (*View).timeline},
	"api/timeline/lanes":  {value: (*View).lanes},
	"api/timeline/tiles":  {bytes: (*View).tiles},
	"api/timeline/at":     {value: (*View).at},
	"api/timeline/edges":  {value: (*View).edges},
	"api/timeline/holds":  {value: (*View).holds},
	"api/timeline/select": {value: (*View).selection},
	"api/timeline/search": {value: (*View).search},
	"api/flame":           {value: (*View).flame, otherRuns: []string{"base"}},
	"api/flame/marks":     {value: (*View).marks},
	"api/source":          {value: (*View).source},
	"api/number":          {value: (*View).number},
	"api/groups":          {value: (*View).groups},
	"api/goroutines":      {value: (*View).goroutines},
	"api/standing":        {value: (*View).standing},
	"api/runtime":         {value: (*View).runtime},
	"api/mmu":             {value: (*View).mmu},
	"api/memory":          {value: (*View).memory},
	"api/tasks":           {value: (*View).tasks},
	"api/task":            {value: (*View).task},
	"api/together":        {value: (*View).together, page: true},
	"api/compare":         {value: (*View).compare, page: true, otherRuns: []string{"a", "b"}},
	"api/sources":         {value: (*View).sources},
}

// Ask answers a question as the server does, with the value that it would send.
func (v *View) Ask(path string, q url.Values) (any, error) {
	e, ok := endpoints[path]
	if !ok || e.value == nil {
		return nil, misuse("no such question: %s", short(path))
	}
	return e.value(v, q)
}

// An endpoint answers one kind of question.
type endpoint struct {
	value func(*View, url.Values) (any, error)
	bytes func(*View, url.Values) ([]byte, error)
	// page is set when it is about the page and not about one run: its View has nothing but
	// the page.
	page      bool
	otherRuns []string // parameters that name other runs
}
