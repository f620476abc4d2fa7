// Package office serves the bulletin of one patent office.
package office

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Filing is one published application.
type Filing struct {
	Number   int      `json:"number"`
	Title    string   `json:"title"`
	Abstract string   `json:"abstract"`
	Classes  []string `json:"classes"`
}

const page = 160

var roots = x509.NewCertPool()

// Roots are the authorities of all offices.
func Roots() *x509.CertPool { return roots }

// Office publishes a few filings before each request.
type Office struct {
	srv   *httptest.Server
	mu    sync.Mutex
	last  int
	lines [page][]byte
}

// Start opens an office.
func Start(n int) *Office {
	o := &Office{last: n * 1_000_000}
	for range page {
		o.publish()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bulletin", o.bulletin)
	o.srv = httptest.NewUnstartedServer(mux)
	o.srv.TLS = &tls.Config{Certificates: []tls.Certificate{issue(n)}}
	o.srv.StartTLS()
	roots.AddCert(o.srv.Certificate())
	return o
}

func issue(n int) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	tpl := &x509.Certificate{
		SerialNumber: big.NewInt(int64(n + 1)),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// URL is the address of the bulletin.
func (o *Office) URL() string { return o.srv.URL + "/bulletin" }

// Close ends the office.
func (o *Office) Close() {
	o.srv.CloseClientConnections()
	o.srv.Close()
}

var words = strings.Fields(`rotor bearing hinge valve membrane laser polymer sensor spindle gasket
	antenna catalyst electrode lens housing coupling bracket nozzle filter winding piston actuator`)

func (o *Office) publish() {
	o.last++
	var ab strings.Builder
	for i := range 36 {
		ab.WriteString(words[(o.last*7+i*i*3)%len(words)])
		ab.WriteByte(' ')
	}
	o.lines[o.last%page], _ = json.Marshal(Filing{
		Number:   o.last,
		Title:    fmt.Sprintf("Improved %s with %s", words[o.last%len(words)], words[o.last*5%len(words)]),
		Abstract: ab.String(),
		Classes:  []string{fmt.Sprintf("F%02dB", o.last%60), fmt.Sprintf("H%02dL", o.last%45)},
	})
}

func (o *Office) bulletin(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	for range 20 {
		o.publish()
	}
	rows := make([][]byte, 0, page)
	for i := range page {
		rows = append(rows, o.lines[(o.last-i)%page])
	}
	o.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, row := range rows {
		w.Write(row)
		w.Write([]byte("\n"))
	}
}
