// Lzmasniff looks into attachments of mails, some of which are compressed.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"

	"github.com/ulikunitz/xz/lzma"
)

// mail makes the attachments of a mail up: one is compressed, others have headers of
// their own kind, a letter and their length.
func mail(i int) (out [][]byte, err error) {
	var b bytes.Buffer
	w, err := lzma.WriterConfig{DictCap: 1 << 16}.NewWriter(&b)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(w, "minutes of meeting %d", i); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	out = append(out, b.Bytes())
	for k := range 3 {
		blob := binary.LittleEndian.AppendUint32([]byte{'A' + byte(k)}, uint32(24<<20+i*7919%10000+k))
		out = append(out, append(blob, bytes.Repeat([]byte{0, 7}, 200)...))
	}
	return out, nil
}

// look is the beginning of what an attachment has within.
func look(attachment []byte) (text []byte, compressed bool) {
	r, err := lzma.NewReader(bytes.NewReader(attachment))
	if err != nil {
		return attachment[:16], false
	}
	text = make([]byte, 16)
	if _, err := io.ReadFull(r, text); err != nil {
		return attachment[:16], false
	}
	return text, true
}

func main() {
	mails := flag.Int("mails", 300, "mails to look into")
	flag.Parse()
	found := 0
	for i := range *mails {
		all, err := mail(i)
		if err != nil {
			log.Fatal(err)
		}
		for _, a := range all {
			if _, ok := look(a); ok {
				found++
			}
		}
	}
	fmt.Println("compressed:", found)
	fmt.Printf("operations: %d\n", *mails)
}
