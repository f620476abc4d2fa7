// Package notice writes the letters to patients.
package notice

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"text/template"
	"time"

	"clinicslots/internal/book"
	"clinicslots/internal/feed"
)

const body = `Dear patient {{.Patient}},
{{if .Accepted}}we are glad to confirm your appointment ({{.Reason}}) at {{.Clinic}}
on {{.Day}} at {{.Hour}}. Please plan for {{.Minutes}} minutes.
To move or cancel it, use https://slots.example/a/{{.Link}}
{{else}}we cannot offer {{.Day}} at {{.Hour}} at {{.Clinic}}: {{.Why}}.
{{end}}`

type fields struct {
	Patient, Reason, Clinic, Day, Hour, Why, Link string
	Minutes                                       int
	Accepted                                      bool
}

// Writer makes letters.
type Writer struct {
	tmpl   *template.Template
	secret []byte
}

// NewWriter returns a writer that signs its links with secret.
func NewWriter(secret string) *Writer {
	return &Writer{tmpl: template.Must(template.New("letter").Parse(body)), secret: []byte(secret)}
}

// Letter writes the answer to a wish into buf.
func (w *Writer) Letter(buf *bytes.Buffer, r feed.Request, s book.Slot) error {
	f := fields{
		Patient: r.Patient, Reason: r.Reason, Clinic: s.Clinic.Name, Why: s.Why, Accepted: s.Accepted,
		Day: s.Local.Format("Monday, 2 January 2006"), Hour: s.Local.Format("15:04 MST"), Minutes: int(s.Length / time.Minute),
	}
	if s.Accepted {
		f.Link = w.sign(r.Patient, s.Clinic.ID, r.Start)
	}
	return w.tmpl.Execute(buf, f)
}

func (w *Writer) sign(patient, clinic string, at time.Time) string {
	m := hmac.New(sha256.New, w.secret)
	m.Write(at.AppendFormat([]byte(patient+clinic), time.RFC3339))
	return hex.EncodeToString(m.Sum(nil)[:16])
}
