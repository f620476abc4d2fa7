package wire

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

func TestBody(t *testing.T) {
	long := strings.Repeat("some words of a letter\r\n", 400)
	for _, lookback := range []int{0, 4} {
		for _, chunk := range []int{7, 4096} {
			here, there := net.Pipe()
			go func() {
				there.Write([]byte("DATA\r\n" + long + "..dots\r\n.\r\nQUIT\r\n"))
				there.Close()
			}()
			c := NewConn(here, chunk)
			c.Lookback = lookback
			if line, err := c.Line(); err != nil || line != "DATA" {
				t.Fatal(line, err)
			}
			body, err := c.Body()
			if err != nil || !bytes.Equal(body, []byte(long+".dots\r\n")) {
				t.Errorf("lookback %d, chunk %d: body of %d bytes, %v", lookback, chunk, len(body), err)
			}
			if line, err := c.Line(); err != nil || line != "QUIT" {
				t.Error(line, err)
			}
		}
	}
}
