// Package httpd serves HTTP over TLS.
package httpd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"
)

// A Config says how clients are treated.
type Config struct {
	Addr        string
	Read        time.Duration
	Write       time.Duration
	Keep        time.Duration
	HeaderLimit int
}

// A Server is one that was started.
type Server struct {
	URL   string
	Roots *x509.CertPool

	http *http.Server
}

// Start begins to serve.
func Start(c Config, h http.Handler) (*Server, error) {
	cert, roots, err := certificate("127.0.0.1")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return nil, err
	}
	s := &http.Server{
		Handler:        h,
		ReadTimeout:    c.Read,
		WriteTimeout:   c.Write,
		IdleTimeout:    c.Keep,
		MaxHeaderBytes: c.HeaderLimit,
		TLSConfig:      &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	go func() { _ = s.ServeTLS(l, "", "") }()
	return &Server{"https://" + l.Addr().String(), roots, s}, nil
}

// Close ends the server.
func (s *Server) Close() { _ = s.http.Close() }

// certificate returns one for a host, and the pool that trusts it.
func certificate(host string) (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: host},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses:  []net.IP{net.ParseIP(host)},
		IsCA:         true,

		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots, nil
}
