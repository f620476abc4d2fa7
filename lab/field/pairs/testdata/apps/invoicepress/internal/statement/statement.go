// Package statement sets the monthly statement of an account.
package statement

import (
	"bytes"
	"html"
	"strconv"

	"invoicepress/internal/orders"
)

// Set writes the statement of a to b.
func Set(b *bytes.Buffer, a *orders.Account) {
	b.WriteString("<html><head><title>Statement ")
	b.WriteString(strconv.Itoa(a.Number))
	b.WriteString("</title></head><body><h1>")
	b.WriteString(html.EscapeString(a.Name))
	b.WriteString("</h1>\n<table>\n")
	var total int64
	for i := range a.Lines {
		l := &a.Lines[i]
		row(b, l)
		total += int64(l.Count) * l.Cents
	}
	b.WriteString("</table>\n<p class=total>")
	money(b, total)
	b.WriteString("</p><p class=vat>")
	money(b, total*19/119)
	b.WriteString("</p></body></html>\n")
}

func row(b *bytes.Buffer, l *orders.Line) {
	b.WriteString(`<tr class="line"><td class="day">`)
	b.Write(l.Day.AppendFormat(b.AvailableBuffer(), "2 Jan"))
	b.WriteString(`</td><td class="sku">`)
	b.WriteString(l.SKU)
	b.WriteString(`</td><td class="name">`)
	b.WriteString(html.EscapeString(l.Name))
	b.WriteString(`</td><td class="number">`)
	b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(l.Count), 10))
	b.WriteString(`</td><td class="money">`)
	money(b, l.Cents)
	b.WriteString(`</td><td class="money">`)
	money(b, int64(l.Count)*l.Cents)
	b.WriteString("</td></tr>\n")
}

// money writes cents as an amount with a separator for thousands.
func money(b *bytes.Buffer, cents int64) {
	whole, part := cents/100, cents%100
	p := b.AvailableBuffer()
	if whole >= 1000 {
		p = strconv.AppendInt(p, whole/1000, 10)
		p = append(p, '.', byte('0'+whole/100%10), byte('0'+whole/10%10), byte('0'+whole%10))
	} else {
		p = strconv.AppendInt(p, whole, 10)
	}
	p = append(p, ',', byte('0'+part/10), byte('0'+part%10))
	b.Write(p)
}
