package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// An authority signs certificates for loopback.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

var serial = big.NewInt(0)

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{pool: x509.NewCertPool()}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	var der []byte
	der, a.key = a.sign(t, a.cert, nil)
	a.cert, _ = x509.ParseCertificate(der)
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) sign(t *testing.T, c *x509.Certificate, by *authority) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

// leaf returns a certificate of a server and a client.
func (a *authority) leaf(t *testing.T) tls.Certificate {
	t.Helper()
	serial = new(big.Int).Add(serial, big.NewInt(1))
	der, key := a.sign(t, &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "leaf"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}, a)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// client trusts an authority and shows certificates. Each request is a connection.
func client(t *testing.T, trusts *authority, shows ...tls.Certificate) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusts.pool, Certificates: shows}, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestTLS serves with certificates, on an address that others reach, and changes them.
func TestTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	var mu sync.Mutex
	var failing error
	certificate := ours.leaf(t)
	mutual := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, ClientCAs: ours.pool, ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2", "http/1.1"}}
	now := mutual
	settings := Settings{Tokens: []access.Token{token("read", access.Read)}, TLS: func() (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		return now, failing
	}}
	hangup := make(chan os.Signal)
	said := new(screen)
	url := startedWith(t, new(storetest.Reference), Options{Listen: "0.0.0.0:0", Settings: settings, Hangup: hangup, Log: slog.New(slog.NewTextHandler(said, nil)),
		Load: func() (Settings, error) { return settings, nil }})
	url = strings.Replace(url, "0.0.0.0", "127.0.0.1", 1)
	url = strings.Replace(url, "[::]", "127.0.0.1", 1)
	if a, body := do(t, client(t, ours, ours.leaf(t)), "GET", url+"/api/v1/services", "read", "", nil); a.StatusCode != 200 || a.ProtoMajor != 2 {
		t.Errorf("%d %s, HTTP/%d", a.StatusCode, body, a.ProtoMajor)
	}
	if a, _ := do(t, client(t, ours, ours.leaf(t)), "GET", url+"/api/v1/services", "", "", nil); a.StatusCode != 401 {
		t.Errorf("a certificate without a token: %d", a.StatusCode)
	}
	for what, c := range map[string]*http.Client{"no certificate": client(t, ours), "a stranger's": client(t, ours, theirs.leaf(t)), "another authority": client(t, theirs, ours.leaf(t))} {
		if a, err := c.Get(url + "/healthz"); err == nil {
			t.Errorf("%s: %d", what, a.StatusCode)
		}
	}
	if a, err := http.Get(strings.Replace(url, "https", "http", 1) + "/healthz"); err != nil || a.StatusCode != 400 {
		t.Errorf("without TLS: %v, %v", a, err)
	}
	// Other certificates, of the other authority, without those of clients.
	mu.Lock()
	now = &tls.Config{Certificates: []tls.Certificate{theirs.leaf(t)}, MinVersion: tls.VersionTLS12}
	mu.Unlock()
	hangup <- syscall.SIGHUP
	hangup <- syscall.SIGHUP // which is taken when the first is done
	if a, err := client(t, theirs).Get(url + "/healthz"); err != nil || a.StatusCode != 200 {
		t.Errorf("the new certificate: %v, %v", a, err)
	}
	mu.Lock()
	failing = errors.New("cert.pem is gone")
	mu.Unlock()
	hangup <- syscall.SIGHUP
	hangup <- syscall.SIGHUP
	if a, body := do(t, client(t, theirs), "GET", url+"/metrics", "read", "", nil); !strings.Contains(body, "gowhy_fleet_config_last_reload_successful 0\n") {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	if !strings.Contains(said.String(), "cert.pem is gone") {
		t.Error(said)
	}
}
