package config

import (
	"crypto/tls"
	"errors"

	"go.yaml.in/yaml/v3"
)

// Credentials are what this server shows to a target, or to a URL that lists targets, and
// how it knows them.
type Credentials struct {
	User         string
	Password     string
	PasswordFile string
	BearerFile   string
	TLS          *ClientTLS
}

// credentials returns the keys of a mapping that has some.
func (r *reader) credentials(c *Credentials) keys {
	return keys{
		"basic_auth": func(n *yaml.Node) {
			r.mapping(n, "basic_auth", keys{
				"username": r.text(&c.User, "username"), "password": r.text(&c.Password, "password"),
				"password_file": r.path(&c.PasswordFile, "password_file"),
			})
			if c.User == "" || (c.Password == "") == (c.PasswordFile == "") {
				r.problem(n, "basic_auth needs username, and password or password_file")
			}
		},
		"bearer_token_file": r.path(&c.BearerFile, "bearer_token_file"),
		"tls_config":        func(n *yaml.Node) { c.TLS = r.clientTLS(n) },
	}
}

// secrets are what the files of credentials hold.
type secrets struct {
	bearer, password string
	tls              *tls.Config
}

// secrets reads the files. One that cannot be read is an error, and counts as before.
func (c *Credentials) secrets(before secrets) (secrets, error) {
	now := before
	if c.Password != "" {
		now.password = c.Password
	}
	var failed error
	read := func(to *string, file string) {
		if file == "" {
			return
		}
		secret, err := secretOf(file)
		if err != nil {
			failed = errors.Join(failed, err)
			return
		}
		*to = secret
	}
	read(&now.bearer, c.BearerFile)
	read(&now.password, c.PasswordFile)
	if c.TLS != nil {
		t, err := c.TLS.config()
		if err != nil {
			return now, errors.Join(failed, err)
		}
		now.tls = t
	}
	return now, failed
}
