// Package account keeps the settings of mail users.
package account

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
)

// Rule moves messages that match into a folder.
type Rule struct {
	Field   string `json:"field"`
	Pattern string `json:"pattern"`
	Folder  string `json:"folder"`
}

// Settings of one user.
type Settings struct {
	User  string `json:"user"`
	Rules []Rule `json:"rules"`
}

var patterns = []string{
	`(?i)\b(invoice|receipt|statement)\s+#?%d\b`,
	`(?i)^\[ticket[- ]%d\]`,
	`(?i)(list|group)-%d@[a-z0-9.-]+\.(org|net|com)`,
	`(?i)your\s+(parcel|order)\s+(no\.?\s*)?%d\s+(has|was)`,
	`(?i)^(re|fwd?|aw):\s.*project\s%d`,
}

// Write stores the settings of n users with rules rules each below dir.
func Write(dir string, n, rules int) error {
	rnd := rand.New(rand.NewPCG(9, 1))
	for i := range n {
		s := Settings{User: User(i)}
		for range rules {
			field := "subject"
			if rnd.IntN(4) == 0 {
				field = "from"
			}
			id := rnd.IntN(900)
			s.Rules = append(s.Rules, Rule{
				Field:   field,
				Pattern: fmt.Sprintf(patterns[rnd.IntN(len(patterns))], id),
				Folder:  fmt.Sprintf("folder-%d", id%12),
			})
		}
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.User+".json"), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// User names the i-th user.
func User(i int) string { return fmt.Sprintf("user%04d", i) }

// Load reads all settings below dir.
func Load(dir string) ([]Settings, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var all []Settings
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, err
		}
		var s Settings
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
