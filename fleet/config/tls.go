package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Server reads the certificates from their files.
func (t *TLS) Server() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", t.CertFile, t.KeyFile, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if t.ClientCAFile != "" {
		if c.ClientCAs, err = authorities(t.ClientCAFile); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// authorities returns the certificates of a file.
func authorities(file string) (*x509.CertPool, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", file)
	}
	return pool, nil
}

// ClientTLS is how a target proves who it is, and this server to it.
type ClientTLS struct {
	CAFile, CertFile, KeyFile, ServerName string
	Insecure                              bool // any certificate will do
}

func (r *reader) clientTLS(n *yaml.Node) *ClientTLS {
	t := &ClientTLS{}
	r.mapping(n, "tls_config", keys{
		"ca_file": r.path(&t.CAFile, "ca_file"), "cert_file": r.path(&t.CertFile, "cert_file"), "key_file": r.path(&t.KeyFile, "key_file"),
		"server_name": r.text(&t.ServerName, "server_name"), "insecure_skip_verify": r.boolean(&t.Insecure, "insecure_skip_verify"),
	})
	if (t.CertFile == "") != (t.KeyFile == "") {
		r.problem(n, "tls_config has cert_file or key_file without the other")
	} else if _, err := t.config(); err != nil {
		r.problem(n, "tls_config: %v", err)
	}
	return t
}

func (t *ClientTLS) config() (*tls.Config, error) {
	c := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.Insecure}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", t.CertFile, t.KeyFile, err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	if t.CAFile != "" {
		pool, err := authorities(t.CAFile)
		if err != nil {
			return nil, err
		}
		c.RootCAs = pool
	}
	return c, nil
}
