// Package wire is the message format between points and the central system: a
// JSON array in a line.
package wire

import (
	"encoding/json"
	"fmt"
)

type Sample struct {
	Measurand string  `json:"measurand"`
	Phase     string  `json:"phase,omitempty"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
}

type MeterValues struct {
	Connector   int      `json:"connector"`
	Transaction int      `json:"transaction"`
	Samples     []Sample `json:"samples"`
}

type Confirm struct {
	Cents int    `json:"cents"`
	Limit int    `json:"limit_w"`
	Note  string `json:"note,omitempty"`
}

func Call(id, action string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	return fmt.Appendf(nil, "[2,%q,%q,%s]\n", id, action, raw), err
}

func Result(id string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	return fmt.Appendf(nil, "[3,%q,%s]\n", id, raw), err
}

// Parse reads a message and decodes its body.
func Parse(line []byte, body any) (id string, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil || len(parts) < 3 {
		return "", fmt.Errorf("wire: message of %d parts: %v", len(parts), err)
	}
	if err := json.Unmarshal(parts[1], &id); err != nil {
		return "", err
	}
	return id, json.Unmarshal(parts[len(parts)-1], body)
}
