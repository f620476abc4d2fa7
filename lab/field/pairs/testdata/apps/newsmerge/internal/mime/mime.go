// Package mime packs letters into mails.
package mime

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	stdmime "mime"
	"mime/quotedprintable"

	"newsmerge/internal/people"
)

// Pack writes the mail to m with the given page.
func Pack(out *bytes.Buffer, m *people.Member, html []byte) error {
	sum := sha256.Sum256(html)
	fmt.Fprintf(out, "To: %s <%s>\r\n", stdmime.QEncoding.Encode("utf-8", m.Name), m.Mail)
	fmt.Fprintf(out, "Message-ID: <%s@club.example>\r\nMIME-Version: 1.0\r\n", hex.EncodeToString(sum[:12]))
	fmt.Fprintf(out, "Content-Digest: sha-256=:%s:\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	io.WriteString(out, "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	q := quotedprintable.NewWriter(out)
	if _, err := q.Write(html); err != nil {
		return err
	}
	return q.Close()
}
