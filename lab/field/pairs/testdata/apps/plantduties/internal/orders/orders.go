// Package orders writes work orders.
package orders

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"sync"
	"text/template"
	"time"
)

var sheet = template.Must(template.New("sheet").Parse(`WORK ORDER {{.ID}} for {{.Machine}}
{{.Title}}, due {{.Due.Format "Mon 02 Jan 2006 15:04"}}
{{range $i, $s := .Steps}}{{$i}}. {{$s.Name}} ({{$s.Minutes}} min){{if $s.Locked}} LOCK OUT FIRST{{end}}
{{end}}Total {{.Total}} min
`))

// Step is one thing to do.
type Step struct {
	Name    string `xml:"name,attr"`
	Minutes int    `xml:"minutes,attr"`
	Locked  bool   `xml:"locked,attr,omitempty"`
}

// Order is one execution of a duty.
type Order struct {
	XMLName xml.Name  `xml:"order"`
	ID      string    `xml:"id,attr"`
	Machine string    `xml:"machine"`
	Title   string    `xml:"title"`
	Due     time.Time `xml:"due"`
	Steps   []Step    `xml:"step"`
	Total   int       `xml:"total"`
	Sheet   string    `xml:"sheet"`
}

// Desk issues orders.
type Desk struct {
	Key []byte

	mu     sync.Mutex
	issued map[string]string
}

// Issue makes the order and returns its signed form.
func (k *Desk) Issue(id, machine, title string, due time.Time) ([]byte, error) {
	o := Order{ID: fmt.Sprintf("%s-%s", id, due.Format("060102-1504")), Machine: machine, Title: title, Due: due}
	for i := range 6 + len(title)%12 {
		s := Step{Name: fmt.Sprintf("check point %d of %s", i+1, machine), Minutes: 2 + (i*7)%11, Locked: i%4 == 1}
		o.Steps = append(o.Steps, s)
		o.Total += s.Minutes
	}
	var text bytes.Buffer
	if err := sheet.Execute(&text, o); err != nil {
		return nil, err
	}
	o.Sheet = text.String()
	body, err := xml.MarshalIndent(o, "", " ")
	if err != nil {
		return nil, err
	}
	m := hmac.New(sha256.New, k.Key)
	m.Write(body)
	mark := hex.EncodeToString(m.Sum(nil))
	k.mu.Lock()
	if k.issued == nil {
		k.issued = map[string]string{}
	}
	k.issued[id] = mark
	k.mu.Unlock()
	return append(body, "\n<!-- "+mark+" -->\n"...), nil
}
