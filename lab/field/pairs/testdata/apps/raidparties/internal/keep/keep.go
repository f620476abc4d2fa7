// Package keep makes the signed passes to the instance of a raid.
package keep

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"raidparties/internal/queue"
)

// Warden signs passes.
type Warden struct{ Key []byte }

type pass struct {
	Match   uint64   `json:"match"`
	Players []string `json:"players"`
	Level   int      `json:"level"`
}

// Pass makes the pass of a match.
func (w *Warden) Pass(m *queue.Match) (string, error) {
	p := pass{Match: m.Serial, Level: (m.A.Rating + m.B.Rating) / 2}
	for _, pl := range m.A.Players {
		p.Players = append(p.Players, pl.Name)
	}
	for _, pl := range m.B.Players {
		p.Players = append(p.Players, pl.Name)
	}
	body, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, w.Key)
	mac.Write(body)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(body)), nil
}
