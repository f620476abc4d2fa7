package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// nfpm writes deb and rpm. It is run as a command of one version, so that go.mod has
// nothing of it, and the same files come out next year.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

const maintainer = "The gowhy authors <gowhy@users.noreply.github.com>"

// content is a file of a package, in nfpm's words.
type content struct {
	Source   string   `json:"src"`
	Place    string   `json:"dst"`
	Packager string   `json:"packager,omitempty"` // only in the packages of this kind
	Info     fileInfo `json:"file_info"`
}

type fileInfo struct {
	Mode  int       `json:"mode"`
	MTime time.Time `json:"mtime"`
}

// overrides say of what lintian rightly notices why it is meant.
const overrides = `# Go links statically; what is in the binary, third-party.txt.gz says.
gowhy: statically-linked-binary [usr/bin/gowhy]
# It is the project's own package, which no bug of Debian's has asked for.
gowhy: initial-upload-closes-no-bugs [usr/share/doc/gowhy/changelog.Debian.gz:1]
`

// copyright is that of Debian, which has the text of the licence itself.
const copyright = `This is gowhy, from https://` + ownModule + `

Copyright 2026 the gowhy authors
License: Apache-2.0

On Debian systems the text of this licence is /usr/share/common-licenses/Apache-2.0.

What others wrote and is part of the program has licences of its own, which are in
third-party.txt.gz beside this file; gowhy version --licenses prints them too.
`

// packages writes a binary's deb and rpm into out.
func packages(ctx context.Context, b *build, docs []file, tmp, out string) error {
	stage := filepath.Join(tmp, b.target.String())
	var contents []content
	put := func(packager, place string, mode os.FileMode, data []byte) error {
		name := filepath.Join(stage, packager, filepath.FromSlash(place))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		contents = append(contents, content{name, place, packager, fileInfo{int(mode), b.at}})
		return os.WriteFile(name, data, mode)
	}
	if err := put("", "/usr/bin/gowhy", 0o755, b.data); err != nil {
		return err
	}
	by := map[string]file{}
	for _, f := range sorted(docs) {
		by[f.name] = f
		if page, ok := strings.CutPrefix(f.name, "man/"); ok {
			small, err := gzipBytes(f.data)
			if err == nil {
				err = put("", "/usr/share/man/man1/"+page+".gz", 0o644, small)
			}
			if err != nil {
				return err
			}
		}
	}
	// The versions of packages have no dash of their own; "~" is before the release.
	version := strings.ReplaceAll(b.version, "-", "~")
	changes, err := gzipBytes([]byte("gowhy (" + version + "-1) unstable; urgency=medium\n\n  * Release " + b.version + "; CHANGELOG.md in the source says what is new.\n\n" +
		" -- " + maintainer + "  " + b.at.Format(time.RFC1123Z) + "\n"))
	if err != nil {
		return err
	}
	others, err := gzipBytes(by["licenses.txt"].data)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		packager, place string
		data            []byte
	}{
		{"", "/usr/share/bash-completion/completions/gowhy", by["completions/"+shellScripts["bash"]].data},
		{"", "/usr/share/fish/vendor_completions.d/gowhy.fish", by["completions/"+shellScripts["fish"]].data},
		{"deb", "/usr/share/zsh/vendor-completions/_gowhy", by["completions/"+shellScripts["zsh"]].data},
		{"rpm", "/usr/share/zsh/site-functions/_gowhy", by["completions/"+shellScripts["zsh"]].data},
		{"deb", "/usr/share/doc/gowhy/copyright", []byte(copyright)},
		{"deb", "/usr/share/doc/gowhy/changelog.Debian.gz", changes},
		{"deb", "/usr/share/doc/gowhy/third-party.txt.gz", others},
		{"deb", "/usr/share/lintian/overrides/gowhy", []byte(overrides)},
		{"rpm", "/usr/share/licenses/gowhy/LICENSE", by["LICENSE"].data},
		{"rpm", "/usr/share/licenses/gowhy/licenses.txt", by["licenses.txt"].data},
	} {
		if err := put(f.packager, f.place, 0o644, f.data); err != nil {
			return err
		}
	}
	// nfpm reads YAML, of which JSON is a part.
	config := filepath.Join(stage, "nfpm.yaml")
	if err := writeJSON(config, map[string]any{
		"name": "gowhy", "arch": b.arch, "platform": "linux", "version": version, "version_schema": "none", "release": "1",
		"section": "devel", "priority": "optional", "maintainer": maintainer, "homepage": "https://" + ownModule, "license": "Apache-2.0",
		"description": "say why a Go program is slow or costly\ngowhy reads what a Go program recorded about itself, an execution trace,\n" +
			"profiles or a recording, and names the bottleneck, what to change, and the\nmost that the change can bring.",
		"mtime": b.at, "contents": contents,
		"rpm": map[string]any{"group": "Development/Tools", "summary": "Say why a Go program is slow or costly", "buildhost": "localhost"},
	}); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		name := filepath.Join(out, b.name()+"."+kind)
		// GOAMD64 is gowhy's, so that nfpm is compiled once, whatever the environment says.
		env := []string{"GOFLAGS=", "GOAMD64=v1", "SOURCE_DATE_EPOCH=" + fmt.Sprint(b.at.Unix())}
		if _, err := command(ctx, env, "go", "run", nfpm, "package", "-f", config, "-p", kind, "-t", name); err != nil {
			return fmt.Errorf("%w\nhint: without packages: go run ./bench/dist -archives", err)
		}
	}
	return nil
}

func writeJSON(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
