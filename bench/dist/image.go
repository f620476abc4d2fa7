package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"time"
)

// The image's own user, which owns nothing that the image needs: its file system may
// be read-only. What is to be read or written is mounted at its home.
const (
	imageUser = 65532
	imageHome = "/data"
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// Of the OCI image specification, what is written here.
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *platform         `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	index struct {
		Schema      int               `json:"schemaVersion"`
		MediaType   string            `json:"mediaType"`
		Manifests   []descriptor      `json:"manifests"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	manifest struct {
		Schema      int               `json:"schemaVersion"`
		MediaType   string            `json:"mediaType"`
		Config      descriptor        `json:"config"`
		Layers      []descriptor      `json:"layers"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	imageConfig struct {
		platform
		Created time.Time  `json:"created"`
		Config  runConfig  `json:"config"`
		RootFS  rootFS     `json:"rootfs"`
		History []imageAct `json:"history"`
	}
	runConfig struct {
		User       string            `json:"User"`
		Env        []string          `json:"Env"`
		Entrypoint []string          `json:"Entrypoint"`
		Cmd        []string          `json:"Cmd"`
		WorkingDir string            `json:"WorkingDir"`
		Labels     map[string]string `json:"Labels"`
	}
	rootFS struct {
		Type  string   `json:"type"`
		Diffs []string `json:"diff_ids"`
	}
	imageAct struct {
		Created   time.Time `json:"created"`
		CreatedBy string    `json:"created_by"`
	}
)

// image returns a tar of an OCI image layout with one image for each architecture. It is
// some JSON around a tar of one static binary, and needs no daemon to be made.
func image(ctx context.Context, builds []*build) ([]byte, error) {
	blobs := map[string][]byte{}
	add := func(mediaType string, data []byte) descriptor {
		d := digest(data)
		blobs["blobs/sha256/"+d] = data
		return descriptor{MediaType: mediaType, Digest: "sha256:" + d, Size: len(data)}
	}
	addJSON := func(mediaType string, v any) (descriptor, error) {
		data, err := json.Marshal(v)
		return add(mediaType, data), err
	}
	all := index{Schema: 2, MediaType: indexType}
	var labels map[string]string
	var at time.Time
	for _, b := range builds {
		if b.os != "linux" {
			continue
		}
		at = b.at
		labels = map[string]string{
			"org.opencontainers.image.title":       "gowhy",
			"org.opencontainers.image.description": "Says why a Go program is slow or costly, and what to change",
			"org.opencontainers.image.source":      "https://" + ownModule,
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.version":     b.version,
			"org.opencontainers.image.created":     at.Format(time.RFC3339),
		}
		if commit, err := command(ctx, nil, "git", "rev-parse", "HEAD"); err == nil {
			labels["org.opencontainers.image.revision"] = strings.TrimSpace(commit)
		}
		files, err := imageFiles(b)
		if err != nil {
			return nil, err
		}
		layer, err := tarball(files, at, 0)
		if err != nil {
			return nil, err
		}
		small, err := gzipBytes(layer)
		if err != nil {
			return nil, err
		}
		config, err := addJSON(configType, imageConfig{
			platform: platform{b.arch, b.os}, Created: at,
			Config: runConfig{
				User: "65532:65532", Env: []string{"PATH=/usr/bin", "HOME=" + imageHome},
				Entrypoint: []string{"/usr/bin/gowhy"}, Cmd: []string{"--help"}, WorkingDir: imageHome, Labels: labels,
			},
			RootFS:  rootFS{"layers", []string{"sha256:" + digest(layer)}},
			History: []imageAct{{at, "go run ./bench/dist"}},
		})
		if err != nil {
			return nil, err
		}
		m, err := addJSON(manifestType, manifest{2, manifestType, config, []descriptor{add(layerType, small)}, labels})
		if err != nil {
			return nil, err
		}
		m.Platform = &platform{b.arch, b.os}
		all.Manifests = append(all.Manifests, m)
	}
	// One index below the layout's own: then a tool that is given no name takes it, and
	// of it the architecture that it is on.
	inner, err := addJSON(indexType, all)
	if err != nil {
		return nil, err
	}
	inner.Annotations = map[string]string{"org.opencontainers.image.ref.name": labels["org.opencontainers.image.version"]}
	outer, err := json.Marshal(index{Schema: 2, MediaType: indexType, Manifests: []descriptor{inner}})
	if err != nil {
		return nil, err
	}
	files := []file{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, outer},
		{"blobs/", fs.ModeDir | 0o755, nil}, {"blobs/sha256/", fs.ModeDir | 0o755, nil},
	}
	for name, data := range blobs {
		files = append(files, file{name, 0o644, data})
	}
	return tarball(files, at, 0)
}

// imageFiles returns the root of an image: the command, its notices, a name for the user,
// and where temporary files and mounts go.
func imageFiles(b *build) ([]file, error) {
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	notices, err := os.ReadFile(gowhy.file)
	if err != nil {
		return nil, err
	}
	const passwd = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:" + imageHome + ":/sbin/nologin\n"
	dir := fs.ModeDir | 0o755
	return []file{
		{"usr/", dir, nil}, {"usr/bin/", dir, nil}, {"usr/bin/gowhy", 0o755, b.data},
		{"usr/share/", dir, nil}, {"usr/share/doc/", dir, nil}, {"usr/share/doc/gowhy/", dir, nil},
		{"usr/share/doc/gowhy/LICENSE", 0o644, license}, {"usr/share/doc/gowhy/licenses.txt", 0o644, notices},
		{"etc/", dir, nil}, {"etc/passwd", 0o644, []byte(passwd)}, {"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"tmp/", fs.ModeDir | fs.ModeSticky | 0o777, nil}, {strings.TrimPrefix(imageHome, "/") + "/", dir, nil},
	}, nil
}
