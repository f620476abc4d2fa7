package order

import (
	"testing"

	"wholesaleprices/internal/pricebook"
)

func TestPrice(t *testing.T) {
	b := pricebook.New(5000)
	o := Generate(3)
	one := Price(b, &o)
	if whole := b.Total(o.Articles); one == 0 || one != whole {
		t.Errorf("article by article %d, whole %d", one, whole)
	}
	b.Set(o.Articles[0], 1_000_000)
	if Price(b, &o) <= one || b.Cents(-1) != 0 || b.Cents(5000) != 0 {
		t.Error("a price was not set, or articles that there are none of cost something")
	}
}
