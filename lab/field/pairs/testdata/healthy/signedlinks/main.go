// Signedlinks checks links that were signed with Ed25519, each once.
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"log"
)

type link struct{ path, signature string }

func main() {
	flag.Parse()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	links := make([]link, 2000)
	for i := range links {
		path := fmt.Sprintf("/files/%d?until=1900000000", i)
		links[i] = link{path, base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, []byte(path)))}
	}
	pace(func(n int) error {
		l := links[n%len(links)]
		s, err := base64.RawURLEncoding.DecodeString(l.signature)
		if err != nil {
			return err
		}
		if !ed25519.Verify(public, []byte(l.path), s) {
			return errors.New("a link is forged: " + l.path)
		}
		return nil
	})
}
