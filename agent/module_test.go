package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program that imports the agent has the same requirements as before, and one
// more: what is measured is the program that there was. The program is a module
// whose requirements have requirements that are older than those of gowhy; all of
// them come from a proxy of files, so that the test needs no network.
func TestImportLeavesRequirements(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("go.mod"); err != nil { // go test runs this again when it has changed
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Of a module whose packages nobody imports the go command reads go.mod only.
	for module, text := range map[string]string{
		"golang.org/x/net v0.1.0":  "module golang.org/x/net\n\nrequire golang.org/x/sys v0.1.0\n",
		"golang.org/x/sys v0.1.0":  "module golang.org/x/sys\n",
		"golang.org/x/net v0.57.0": "module golang.org/x/net\n\nrequire golang.org/x/sys v0.49.0\n",
		"golang.org/x/sys v0.49.0": "module golang.org/x/sys\n",
	} {
		path, version, _ := strings.Cut(module, " ")
		write("proxy/"+path+"/@v/"+version+".mod", text)
		write("proxy/"+path+"/@v/"+version+".info", `{"Version":"`+version+`"}`)
	}
	write("shop/go.mod", "module example.com/shop\n\ngo 1.21\n\nrequire golang.org/x/net v0.1.0\n")
	write("shop/main.go", "package main\n\nfunc main() {}\n")
	run := func(args ...string) []string {
		t.Helper()
		cmd := exec.Command(goTool, args...)
		cmd.Dir = filepath.Join(dir, "shop")
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local",
			"GOMODCACHE="+filepath.Join(dir, "cache"), "GOPROXY=file://"+filepath.ToSlash(filepath.Join(dir, "proxy")))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	before := run("list", "-m", "all")
	if !slices.Equal(before, []string{"example.com/shop", "golang.org/x/net v0.1.0", "golang.org/x/sys v0.1.0"}) {
		t.Fatalf("the program requires %q, want only itself, net and sys at v0.1.0", before)
	}
	goLine := run("list", "-m", "-f", "{{.GoVersion}}")

	const module = "github.com/gowhy/gowhy/agent"
	write("shop/main.go", "package main\n\nimport _ \""+module+"\"\n\nfunc main() {}\n")
	run("mod", "edit", "-replace", module+"="+here, "-require", module+"@v0.1.0")
	run("build", ".")
	after := slices.DeleteFunc(run("list", "-m", "all"), func(m string) bool { return strings.HasPrefix(m, module+" ") })
	if !slices.Equal(after, before) {
		t.Errorf("with the agent the program requires %q, without %q", after, before)
	}
	if now := run("list", "-m", "-f", "{{.GoVersion}}"); !slices.Equal(now, goLine) {
		t.Errorf("with the agent the go line is %s, without %s", now, goLine)
	}
}
