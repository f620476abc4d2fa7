package openapiorders

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

const described = `{
  "type": "object",
  "required": ["number", "customer", "lines"],
  "properties": {
    "number": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{6,10}$"},
    "placed": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$"},
    "customer": {
      "type": "object",
      "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 80},
        "mail": {"type": "string", "pattern": "^[a-z0-9._-]+@[a-z0-9-]+(\\.[a-z0-9-]+)+$"},
        "post": {"type": "string", "pattern": "^[0-9]{5}$"}
      }
    },
    "lines": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "required": ["article", "count"],
        "properties": {
          "article": {"type": "string", "pattern": "^[a-z]{3}[0-9]{5}(-[a-z]{2})?$"},
          "count": {"type": "integer", "minimum": 1, "maximum": 500}
        }
      }
    }
  }
}`

const order = `{
  "number": "BE-2026115", "placed": "2026-11-14T09:30:12Z",
  "customer": {"name": "Ada Byron", "mail": "ada@example.org", "post": "10115"},
  "lines": [
    {"article": "tea00017", "count": 2}, {"article": "cup00203-bl", "count": 6},
    {"article": "pot00009", "count": 1}, {"article": "sug01144-br", "count": 3},
    {"article": "spo00310", "count": 12}, {"article": "tra00071-wo", "count": 1}
  ]
}`

func schema(b *testing.B) *openapi3.Schema {
	s := openapi3.NewSchema()
	if err := s.UnmarshalJSON([]byte(described)); err != nil {
		b.Fatal(err)
	}
	return s
}

// accept is what a handler does with the body of a request.
func accept(s *openapi3.Schema, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return s.VisitJSON(value)
}

func BenchmarkAccept(b *testing.B) {
	s := schema(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := accept(s, []byte(order)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRefuse(b *testing.B) {
	s := schema(b)
	body := []byte(`{"number": "none", "customer": {"mail": "ada"}, "lines": [{"article": "tea", "count": 0}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if accept(s, body) == nil {
			b.Fatal("accepted")
		}
	}
}
