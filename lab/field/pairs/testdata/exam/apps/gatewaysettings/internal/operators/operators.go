// Package operators changes the settings of tenants.
package operators

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"gatewaysettings/internal/registry"
)

// Operators change settings through a server.
type Operators struct {
	url     string
	client  *http.Client
	tenants int
}

// New returns operators of so many tenants.
func New(url string, client *http.Client, tenants int) *Operators {
	return &Operators{url + "/settings/", client, tenants}
}

var tiers = []string{"basic", "silver", "gold"}

// Work makes rate changes a second.
func (o *Operators) Work(rate int, d time.Duration) error {
	begun := time.Now()
	for i := range rate * int(d/time.Second) {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		if err := o.change(registry.Tenant(i*37%o.tenants), i); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operators) change(tenant string, i int) error {
	body := fmt.Sprintf(`{"tier":%q,"burst":"%d","note":"change %d of the shift"}`, tiers[i%len(tiers)], 10+i%50, i)
	request, err := http.NewRequest(http.MethodPatch, o.url+tenant, strings.NewReader(body))
	if err != nil {
		return err
	}
	r, err := o.client.Do(request)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("operators: %s", r.Status)
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err
}
