// Fastjsonevents reads events with fastjson, by a parser that is used again.
package main

import (
	"flag"
	"fmt"

	"github.com/valyala/fastjson"
)

func main() {
	flag.Parse()
	texts := make([][]byte, 64)
	for i := range texts {
		texts[i] = fmt.Appendf(nil, `{"kind":"click","at":%d,"user":{"id":%d,"groups":["a","b"]},"items":[{"n":1},{"n":2},{"n":%d}]}`, i, i*31, i)
	}
	var p fastjson.Parser
	pace(func(n int) error {
		v, err := p.ParseBytes(texts[n%len(texts)])
		if err != nil {
			return err
		}
		if v.GetInt("user", "id") != n%len(texts)*31 || len(v.GetArray("items")) != 3 {
			return fmt.Errorf("event %d was read wrong", n)
		}
		return nil
	})
}
