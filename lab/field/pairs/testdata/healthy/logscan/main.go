// Logscan counts the answers of a web server by their status, out of its log.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strconv"
)

// chunk is a part of a log.
func chunk() []byte {
	var b bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&b, "10.0.0.%d - - [01/Mar/2025:10:00:%02d +0000] \"GET /a/%d HTTP/1.1\" %d %d\n", i%250, i%60, i, 200+i%4*100, i*31)
	}
	return b.Bytes()
}

func status(line []byte) (int, bool) {
	i := bytes.LastIndexByte(line, '"')
	if i < 0 || len(line) < i+5 {
		return 0, false
	}
	n, err := strconv.Atoi(string(line[i+2 : i+5]))
	return n, err == nil
}

func main() {
	flag.Parse()
	text := chunk()
	r, room := bytes.NewReader(text), make([]byte, 4096)
	var counts [600]int
	pace(func(int) error {
		r.Reset(text)
		lines := bufio.NewScanner(r)
		lines.Buffer(room, 64<<10)
		for lines.Scan() {
			if n, ok := status(lines.Bytes()); ok {
				counts[n]++
			}
		}
		if counts[200] == 0 {
			return errors.New("nothing was found")
		}
		return lines.Err()
	})
}
