package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// testImage follows the layout from its index to the files, as whoever pulls it does,
// and runs what is there.
func testImage(t *testing.T, dir string) {
	archive := filepath.Join(dir, "gowhy_"+testVersion+"_oci.tar")
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := untar(t, data)
	left := map[string]bool{}
	for name := range files {
		left[name] = true
	}
	blob := func(d descriptor, mediaType string) []byte {
		t.Helper()
		name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
		data, ok := files[name]
		if delete(left, name); !ok || len(data) != d.Size || "sha256:"+digest(data) != d.Digest || d.MediaType != mediaType {
			t.Fatalf("%+v: there %v, %d bytes with the digest %s, want %s", d, ok, len(data), digest(data), mediaType)
		}
		return data
	}
	read := func(data []byte, v any) {
		t.Helper()
		if err := json.Unmarshal(data, v); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(files["oci-layout"]); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", got)
	}
	var outer, inner index
	read(files["index.json"], &outer)
	if len(outer.Manifests) != 1 || outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != testVersion {
		t.Fatalf("index.json is %+v, want one index called %s", outer, testVersion)
	}
	read(blob(outer.Manifests[0], indexType), &inner)
	if len(inner.Manifests) != 2 {
		t.Fatalf("the index is %+v, want amd64 and arm64", inner)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		d := inner.Manifests[i]
		var m manifest
		var c imageConfig
		read(blob(d, manifestType), &m)
		read(blob(m.Config, configType), &c)
		if *d.Platform != (platform{arch, "linux"}) || c.platform != *d.Platform || c.Config.User != "65532:65532" || len(m.Layers) != 1 || len(c.RootFS.Diffs) != 1 {
			t.Fatalf("%+v is of %+v, want one of %s for the user 65532", c, d.Platform, arch)
		}
		z, err := gzip.NewReader(bytes.NewReader(blob(m.Layers[0], layerType)))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if "sha256:"+digest(layer) != c.RootFS.Diffs[0] {
			t.Errorf("%s: the layer's own digest is %s, want %s", arch, digest(layer), c.RootFS.Diffs[0])
		}
		if got := untar(t, layer)["usr/bin/gowhy"]; !bytes.Equal(got, unpacked(t, dir, "gowhy_"+testVersion+"_linux_"+arch)["gowhy"]) {
			t.Errorf("%s: the image has another binary than the archive", arch)
		}
		if arch == runtime.GOARCH {
			t.Run("runc", func(t *testing.T) { testContainer(t, layer, c.Config) })
		}
	}
	delete(left, "oci-layout")
	delete(left, "index.json")
	if len(left) > 0 {
		t.Errorf("nothing leads to %v", left)
	}
	t.Run("skopeo", func(t *testing.T) {
		needs(t, "skopeo")
		for _, arch := range []string{"amd64", "arm64"} {
			if out := execute(t, dir, nil, "skopeo", "--override-os", "linux", "--override-arch", arch, "inspect", "oci-archive:"+archive); !strings.Contains(out, `"Architecture": "`+arch+`"`) {
				t.Errorf("skopeo finds no image of %s:\n%s", arch, out)
			}
		}
	})
}

// untar returns the files of a tar.
func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		text, rerr := io.ReadAll(r)
		if err := errors.Join(err, rerr); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			files[h.Name] = text
		}
	}
}

// testContainer runs a layer with runc, as its configuration says: its user has no
// rights, its root is read-only, and there is no network.
func testContainer(t *testing.T, layer []byte, c runConfig) {
	needsRoot(t)
	needs(t, "runc")
	bundle := t.TempDir()
	rootfs := filepath.Join(bundle, "rootfs")
	if err := os.Mkdir(rootfs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundle, "layer.tar"), layer, 0o644); err != nil {
		t.Fatal(err)
	}
	execute(t, bundle, nil, "tar", "-xpf", "layer.tar", "-C", rootfs)
	execute(t, bundle, nil, "runc", "spec")
	text, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		spec["root"] = map[string]any{"path": "rootfs", "readonly": true}
		spec["process"] = map[string]any{
			"terminal": false, "user": map[string]int{"uid": imageUser, "gid": imageUser}, "args": append(c.Entrypoint, args...),
			"env": c.Env, "cwd": c.WorkingDir, "capabilities": map[string]any{}, "noNewPrivileges": true,
		}
		if err := writeJSON(filepath.Join(bundle, "config.json"), spec); err != nil {
			t.Fatal(err)
		}
		return execute(t, bundle, nil, "runc", "--root", filepath.Join(bundle, "state"), "run", fmt.Sprintf("gowhy-%s-%d", name, os.Getpid()))
	}
	if out := run("version", "version"); out != fmt.Sprintf("gowhy v%s %s linux/%s\n", testVersion, runtime.Version(), runtime.GOARCH) {
		t.Errorf("in a container, gowhy version prints %q", out)
	}
	if out := run("default", c.Cmd...); !strings.Contains(out, "Usage:") {
		t.Errorf("without arguments, the image prints %q", out)
	}
}
