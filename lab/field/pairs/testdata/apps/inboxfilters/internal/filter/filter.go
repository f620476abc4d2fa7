// Package filter decides into which folder a message goes.
package filter

import (
	"fmt"
	"regexp"
	"sync"

	"inboxfilters/internal/account"
	"inboxfilters/internal/mail"
)

type rule struct {
	from   bool
	re     *regexp.Regexp
	folder string
}

// Set holds the rules of one user.
type Set struct {
	settings account.Settings
	once     sync.Once
	rules    []rule
	err      error
}

// NewSet makes the set of a user.
func NewSet(s account.Settings) *Set { return &Set{settings: s} }

// Prepare makes the set ready for use.
func (s *Set) Prepare() error {
	s.once.Do(func() {
		for _, r := range s.settings.Rules {
			re, err := regexp.Compile(r.Pattern)
			if err != nil {
				s.err = fmt.Errorf("filter: %s: %w", s.settings.User, err)
				return
			}
			s.rules = append(s.rules, rule{from: r.Field == "from", re: re, folder: r.Folder})
		}
	})
	return s.err
}

// Folder finds the folder for m.
func (s *Set) Folder(m *mail.Message) (string, error) {
	if err := s.Prepare(); err != nil {
		return "", err
	}
	for i := range s.rules {
		r := &s.rules[i]
		text := m.Subject
		if r.from {
			text = m.From
		}
		if r.re.MatchString(text) {
			return r.folder, nil
		}
	}
	return "inbox", nil
}
