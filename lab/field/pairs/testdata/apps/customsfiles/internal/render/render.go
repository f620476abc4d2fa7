// Package render writes declarations in the format of the customs office.
package render

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"

	"customsfiles/internal/declare"
)

// Write writes a declaration, a line of XML for each position.
func Write(w io.Writer, d *declare.Declaration) error {
	bw := bufio.NewWriter(w)
	if _, err := fmt.Fprintf(bw, "<declaration number=\"%d\" importer=%q lines=\"%d\">\n", d.Number, d.Importer, len(d.Lines)); err != nil {
		return err
	}
	enc := xml.NewEncoder(bw)
	for i := range d.Lines {
		if err := enc.Encode(&d.Lines[i]); err != nil {
			return fmt.Errorf("render: line %d: %w", i, err)
		}
		if err := bw.WriteByte('\n'); err != nil {
			return err
		}
	}
	if _, err := bw.WriteString("</declaration>\n"); err != nil {
		return err
	}
	return bw.Flush()
}
