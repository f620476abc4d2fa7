package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// The release that is made here, and when.
const (
	testVersion = "0.9.7"
	testTime    = "2026-02-03T04:05:06Z"
)

// copyTree puts the tree as it is, what git ignores left out, into a repository of its
// own with one commit that has a tag.
func copyTree(t *testing.T, dir string) {
	t.Helper()
	for _, name := range treeFiles(t) {
		to := filepath.Join(dir, name)
		info, err := os.Stat(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed and not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, info.Mode().Perm())); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"init -q", "add -A", "commit -q -m release", "tag v" + testVersion} {
		execute(t, dir, []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
			"GIT_AUTHOR_DATE=" + testTime, "GIT_COMMITTER_DATE=" + testTime}, "git", strings.Fields(args)...)
	}
}

// treeFiles returns the files of the checkout that are its own, relative to the root.
func treeFiles(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("which files are of the tree is known in a git checkout only: ", err)
	}
	out := execute(t, root, nil, "git", "ls-files", "-c", "-o", "--exclude-standard", "-z")
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

// execute runs a command that must succeed, and returns what it prints.
func execute(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

// needs skips a test where a program is missing.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

// needsRoot skips a test that installs into a root of its own, which takes chroot.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can")
	}
}

// A release is made twice, in two places and two environments, and then used as those
// who get it would.
func TestRelease(t *testing.T) {
	attempt.Only(t, "builds gowhy for several systems, and packages of it")
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "somewhere else", "two")
	tool := filepath.Join(dir, "dist") // compiled in one environment
	const systems = "linux_amd64,linux_arm64,windows_amd64"
	for _, r := range []struct {
		out string
		env []string
	}{
		{one, nil},
		{two, []string{"TZ=Asia/Tokyo", "LC_ALL=C", "HOSTNAME=other", "USER=other", "GOFLAGS=-buildvcs=false", "GOAMD64=v2"}},
	} {
		tree := r.out + " tree"
		if r.out == one {
			copyTree(t, tree)
			execute(t, tree, nil, "go", "build", "-o", tool, "./bench/dist")
		} else { // the same commit, whatever is edited meanwhile
			execute(t, dir, nil, "git", "clone", "-q", one+" tree", tree)
		}
		execute(t, tree, r.env, tool, "-only", systems, "-o", r.out)
	}
	for name, test := range map[string]func(*testing.T, string){
		"checksums": testChecksums, "archives": testArchives, "materials": testMaterials, "deb": testDeb, "rpm": testRPM, "image": testImage,
	} {
		t.Run(name, func(t *testing.T) { test(t, one) })
	}
	t.Run("same", func(t *testing.T) {
		a, b := sumsOf(t, one), sumsOf(t, two)
		if len(a) != 12 { // an archive and a bill for each; deb and rpm for two; the image and the checksums
			t.Errorf("%d files, want 12: %v", len(a), a)
		}
		for name, sum := range a {
			t.Log(sum, name)
			if b[name] != sum {
				t.Errorf("%s is %s in one place and %s in the other", name, sum, b[name])
			}
		}
	})
	// The second release took from the build cache what the first compiled: a path in
	// what a compiler writes would not show.
	t.Run("without cache", func(t *testing.T) {
		const takes = 30 * time.Minute // on any machine: continuous integration leaves this to who makes a release
		if end, ok := t.Deadline(); ok && time.Until(end) < takes {
			t.Skipf("less than %v are left: GOWHY_TESTS=all go test -timeout 1h ./bench/dist", takes)
		}
		t.Chdir(two + " tree")
		t.Setenv("GOCACHE", filepath.Join(dir, "cache"))
		at, _ := time.Parse(time.RFC3339, testTime)
		b, err := compile(t.Context(), target{"linux", "amd64"}, filepath.Join(dir, "again"), at)
		if err != nil {
			t.Fatal(err)
		}
		if first := unpacked(t, one, "gowhy_"+testVersion+"_linux_amd64"); !bytes.Equal(first["gowhy"], b.data) {
			t.Errorf("%s is compiled anew, and %s was in the archive", digest(b.data), digest(first["gowhy"]))
		}
	})
}

// sumsOf returns the checksums of the files in a directory.
func sumsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sums[e.Name()] = digest(data)
	}
	return sums
}

// unpacked returns the files of a tar.gz, which are all in the folder of its name.
func unpacked(t *testing.T, dir, name string) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	at, _ := time.Parse(time.RFC3339, testTime)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		data, rerr := io.ReadAll(r)
		if err := errors.Join(err, rerr); err != nil {
			t.Fatal(err)
		}
		short, ok := strings.CutPrefix(h.Name, name+"/")
		if !ok || h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(at) || h.Mode&0o022 != 0 {
			t.Errorf("entry %s: uid %d, gid %d, mode %o, of %v, "+
				"want it in %s, uid 0, gid 0, for its owner alone to write, of %v",
				h.Name, h.Uid, h.Gid, h.Mode, h.ModTime, name, at)
		}
		files[short] = data
	}
}

func testChecksums(t *testing.T, dir string) {
	if _, err := verify(dir); err != nil {
		t.Error(err)
	}
	needs(t, "sha256sum")
	execute(t, dir, nil, "sha256sum", "--quiet", "--strict", "-c", checksumsFile)
}

func testArchives(t *testing.T, dir string) {
	files := unpacked(t, dir, "gowhy_"+testVersion+"_linux_amd64")
	var got []string
	for name := range files {
		if len(files[name]) == 0 {
			t.Errorf("%s is empty", name)
		}
		if !strings.HasPrefix(name, "man/gowhy-") {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	want := []string{"LICENSE", "README.md", "completions/_gowhy", "completions/gowhy.bash", "completions/gowhy.fish", "gowhy", "licenses.txt", "man/gowhy.1"}
	if !slices.Equal(got, want) || len(files["man/gowhy-verify.1"]) == 0 {
		t.Errorf("the archive has %q, want %q and a page for each command", got, want)
	}
	needs(t, "/bin/sh") // of a Unix: then the binary may be of this machine
	bin := filepath.Join(t.TempDir(), "gowhy")
	if err := os.WriteFile(bin, files["gowhy"], 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin, "version").CombinedOutput(); err != nil {
		t.Logf("the binary is of another machine: %v", err)
	} else if !strings.HasPrefix(string(out), "gowhy v"+testVersion+" ") {
		t.Errorf("gowhy version prints %q, want v%s", out, testVersion)
	} else if err := attempt.Repeat(t, func() error {
		// It has no symbols, and reads its own names where tracebacks do.
		if out := execute(t, t.TempDir(), nil, bin, "demo", "--no-proof"); !strings.Contains(out, "addComputing") {
			return fmt.Errorf("gowhy demo names no function of its own:\n%s", out)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	z, err := zip.OpenReader(filepath.Join(dir, "gowhy_"+testVersion+"_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if f, err := z.Open("gowhy_" + testVersion + "_windows_amd64/gowhy.exe"); err != nil || len(z.File) != len(files) {
		t.Errorf("the zip has %d files, want %d, and gowhy.exe: %v", len(z.File), len(files), err)
	} else {
		f.Close()
	}
}

// The bill names what the binary itself says, and nothing else but the page.
func testMaterials(t *testing.T, dir string) {
	name := "gowhy_" + testVersion + "_linux_arm64"
	data := unpacked(t, dir, name)["gowhy"]
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, name+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var l bill
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	if c := l.Metadata.Component; c.Version != "v"+testVersion || len(c.Hashes) != 1 || c.Hashes[0].Content != digest(data) {
		t.Errorf("the bill is of %+v, want v%s with the hash %s", c, testVersion, digest(data))
	}
	sums := map[string]string{}
	for _, c := range l.Components {
		if strings.HasPrefix(c.PURL, "pkg:golang/") && c.Name != "std" {
			sums[c.Name+"@"+c.Version] = ""
			if len(c.Properties) > 0 {
				sums[c.Name+"@"+c.Version] = c.Properties[0].Value
			}
		}
	}
	if len(sums) != len(info.Deps) || len(sums) < 8 {
		t.Errorf("%d modules in the bill, %d in the binary", len(sums), len(info.Deps))
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		version := m.Version
		if m.Path == ownModule+"/agent" { // of the same commit, which binaries call (devel)
			version = requiredAgent(t)
		}
		if sum, ok := sums[m.Path+"@"+version]; !ok || sum != m.Sum {
			t.Errorf("%s %s is in the bill: %v, with the sum %q, want %q", m.Path, version, ok, sum, m.Sum)
		}
	}
}

func testDeb(t *testing.T, dir string) {
	needs(t, "dpkg-deb")
	for _, arch := range []string{"amd64", "arm64"} {
		deb := filepath.Join(dir, "gowhy_"+testVersion+"_linux_"+arch+".deb")
		t.Run("lintian "+arch, func(t *testing.T) {
			t.Parallel()
			needs(t, "lintian")
			args := []string{"--fail-on", "error,warning", deb}
			if os.Geteuid() == 0 {
				args = append([]string{"--allow-root"}, args...)
			}
			if out := execute(t, dir, nil, "lintian", args...); out != "" {
				t.Errorf("lintian says:\n%s", out)
			}
		})
		if got := strings.TrimSpace(execute(t, dir, nil, "dpkg-deb", "-f", deb, "Version", "Architecture")); got != "Version: "+testVersion+"-1\nArchitecture: "+arch {
			t.Errorf("the package is %q", got)
		}
	}
	t.Run("installed and purged", func(t *testing.T) {
		needsRoot(t)
		into := t.TempDir()
		for _, d := range []string{"info", "updates", "triggers", "alternatives", "parts"} {
			if err := os.MkdirAll(filepath.Join(into, "var/lib/dpkg", d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(into, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		execute(t, dir, nil, "dpkg", "--root="+into, "--force-all", "-i", "gowhy_"+testVersion+"_linux_"+debArch(t)+".deb")
		installed(t, into, "usr/share/zsh/vendor-completions/_gowhy", "usr/share/doc/gowhy/copyright", "usr/share/doc/gowhy/third-party.txt.gz", "usr/share/doc/gowhy/changelog.Debian.gz")
		execute(t, dir, nil, "dpkg", "--root="+into, "--purge", "gowhy")
		if left := below(t, into, "var"); len(left) > 0 {
			t.Errorf("purged, it leaves %q", left)
		}
	})
}

func debArch(t *testing.T) string {
	t.Helper()
	arch := strings.TrimSpace(execute(t, ".", nil, "dpkg", "--print-architecture"))
	if arch != "amd64" && arch != "arm64" {
		t.Skip("there is no package for ", arch)
	}
	return arch
}

// installed checks what any package brings, and that it works from there.
func installed(t *testing.T, dir string, more ...string) {
	t.Helper()
	for _, name := range append(more, "usr/share/man/man1/gowhy.1.gz", "usr/share/man/man1/gowhy-verify.1.gz", "usr/share/bash-completion/completions/gowhy", "usr/share/fish/vendor_completions.d/gowhy.fish") {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o644 || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if out := execute(t, dir, nil, filepath.Join(dir, "usr/bin/gowhy"), "version"); !strings.HasPrefix(out, "gowhy v"+testVersion+" ") {
		t.Errorf("installed, gowhy version prints %q", out)
	}
}

// below returns the files below a directory, those of one subdirectory left out.
func below(t *testing.T, dir, without string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == filepath.Join(dir, without):
			return fs.SkipDir
		case p != dir:
			names = append(names, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func testRPM(t *testing.T, dir string) {
	needs(t, "rpm")
	for _, arch := range []struct{ name, rpm string }{{"amd64", "x86_64"}, {"arm64", "aarch64"}} {
		file := "gowhy_" + testVersion + "_linux_" + arch.name + ".rpm"
		got := execute(t, dir, nil, "rpm", "--dbpath", t.TempDir(), "-qp", "--qf", "%{NAME} %{VERSION}-%{RELEASE} %{ARCH} %{LICENSE} %{BUILDTIME}", file)
		at, _ := time.Parse(time.RFC3339, testTime)
		if want := fmt.Sprintf("gowhy %s-1 %s Apache-2.0 %d", testVersion, arch.rpm, at.Unix()); got != want {
			t.Errorf("the package is %q, want %q", got, want)
		}
	}
	t.Run("installed and erased", func(t *testing.T) {
		needsRoot(t)
		needs(t, "dpkg") // tells the architecture
		into := t.TempDir()
		args := []string{"--root", into, "--dbpath", "/var/lib/rpm", "--nosignature"}
		execute(t, dir, nil, "rpm", append(args, "-i", "--nodeps", filepath.Join(dir, "gowhy_"+testVersion+"_linux_"+debArch(t)+".rpm"))...)
		installed(t, into, "usr/share/zsh/site-functions/_gowhy", "usr/share/licenses/gowhy/LICENSE", "usr/share/licenses/gowhy/licenses.txt")
		execute(t, dir, nil, "rpm", append(args, "-e", "gowhy")...)
		for _, name := range below(t, into, "var") {
			if info, err := os.Stat(name); err == nil && !info.IsDir() { // folders are of no package
				t.Errorf("erased, it leaves %s", name)
			}
		}
	})
}
