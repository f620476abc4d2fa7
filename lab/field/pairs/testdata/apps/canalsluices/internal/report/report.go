// Package report encodes summaries.
package report

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"canalsluices/internal/summary"
)

// Write returns the report and its checksum.
func Write(day int, s []*summary.Sluice) ([]byte, string, error) {
	b, err := json.Marshal(map[string]any{"day": day, "sluices": s})
	if err != nil {
		return nil, "", err
	}
	return b, fmt.Sprintf("%x", sha256.Sum256(b)), nil
}
