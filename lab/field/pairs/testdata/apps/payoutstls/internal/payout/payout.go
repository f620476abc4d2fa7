// Package payout sends payouts.
package payout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// A Payout is money for somebody.
type Payout struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Cents   int    `json:"cents"`
}

// A Sender sends payouts to a bank.
type Sender struct {
	URL    string
	Client *http.Client
}

// Send sends all and returns their sum.
func (s *Sender) Send(batch []Payout) (cents int, err error) {
	for i := range batch {
		if err := s.one(&batch[i]); err != nil {
			return cents, fmt.Errorf("payout %s: %w", batch[i].ID, err)
		}
		cents += batch[i].Cents
	}
	return cents, nil
}

func (s *Sender) one(p *Payout) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	resp, err := s.Client.Post(s.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("the bank says %s", resp.Status)
	}
	return nil
}
