// Josepasswords takes messages that are encrypted with a password which sender and
// receiver share.
package main

import (
	"encoding/base64"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v3"
)

var password = []byte("a horse with a battery")

// written is a message as a partner sends it.
func written(i int) (string, error) {
	e, err := jose.NewEncrypter(jose.A128GCM, jose.Recipient{
		Algorithm: jose.PBES2_HS256_A128KW, Key: password, PBES2Count: 5000, PBES2Salt: []byte("0123456789abcdef"),
	}, nil)
	if err != nil {
		return "", err
	}
	m, err := e.Encrypt(fmt.Appendf(nil, `{"number": %d, "text": %q}`, i, strings.Repeat("dear sirs ", 40)))
	if err != nil {
		return "", err
	}
	return m.CompactSerialize()
}

// forged has a head of somebody else's.
func forged(message string, rounds int) string {
	_, rest, _ := strings.Cut(message, ".")
	head := fmt.Sprintf(`{"alg":"PBES2-HS256+A128KW","enc":"A128GCM","p2c":%d,"p2s":"c2FsdHNhbHRzYWx0c2FsdA"}`, rounds)
	return base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + rest
}

type inbox struct{ taken, refused int }

func (b *inbox) receive(message string) {
	m, err := jose.ParseEncrypted(message)
	if err != nil {
		b.refused++
		return
	}
	if _, err := m.Decrypt(password); err != nil {
		b.refused++
		return
	}
	b.taken++
}

func main() {
	messages := flag.Int("messages", 300, "how many messages arrive")
	flag.Parse()
	b := new(inbox)
	for i := range *messages {
		message, err := written(i)
		if err != nil {
			log.Fatal(err)
		}
		if i%75 == 30 {
			message = forged(message, 6_000_000)
		}
		b.receive(message)
		time.Sleep(5 * time.Millisecond) // until the next one arrives
	}
	fmt.Println("taken:", b.taken, "refused:", b.refused)
	fmt.Println("operations:", *messages)
}
