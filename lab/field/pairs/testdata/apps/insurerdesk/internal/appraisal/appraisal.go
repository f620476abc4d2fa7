// Package appraisal is the service that appraises damages, and its client.
package appraisal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"time"
)

// Damage is what is to be appraised.
type Damage struct {
	Policy string `json:"policy"`
	Part   string `json:"part"`
	Days   int    `json:"days"`
}

// Start serves appraisals and returns the address.
func Start() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(ln, http.HandlerFunc(appraise))
	return "http://" + ln.Addr().String(), nil
}

func appraise(w http.ResponseWriter, r *http.Request) {
	var d Damage
	if json.NewDecoder(r.Body).Decode(&d) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h := fnv.New32a()
	fmt.Fprint(h, d.Policy, d.Part, d.Days)
	time.Sleep(8*time.Millisecond + time.Duration(h.Sum32()%5000)*time.Microsecond) // the model
	json.NewEncoder(w).Encode(h.Sum32() % 400000)                                   // cents
}

// Client asks the service.
type Client struct {
	base string
	http http.Client
}

func NewClient(base string) *Client {
	return &Client{base: base, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Appraise returns what a damage costs.
func (c *Client) Appraise(d Damage) (int64, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Post(c.base+"/appraise", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var cents int64
	err = json.NewDecoder(resp.Body).Decode(&cents)
	return cents, err
}
