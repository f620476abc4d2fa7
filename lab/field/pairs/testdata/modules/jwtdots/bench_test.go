package jwtdots

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

var secret = []byte("the key of the shop")

type claims struct {
	jwt.RegisteredClaims
	Role string `json:"role"`
}

var errNoToken = errors.New("there is no token")

// user checks the token of a request.
func user(r *http.Request) (string, error) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return "", errNoToken
	}
	var c claims
	_, err := jwt.ParseWithClaims(text, &c, func(*jwt.Token) (any, error) { return secret, nil })
	return c.Subject, err
}

func request(token string) *http.Request {
	r, _ := http.NewRequest(http.MethodGet, "http://shop.example/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func BenchmarkGuests(b *testing.B) {
	c := claims{jwt.RegisteredClaims{Subject: "ann", ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour))}, "guest"}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(secret)
	if err != nil {
		b.Fatal(err)
	}
	r := request(token)
	for b.Loop() {
		if name, err := user(r); err != nil || name != "ann" {
			b.Fatal(name, err)
		}
	}
}

func BenchmarkScanners(b *testing.B) {
	r := request(strings.Repeat(".", 60000))
	for b.Loop() {
		if _, err := user(r); err == nil {
			b.Fatal("a scanner has come in")
		}
	}
}
