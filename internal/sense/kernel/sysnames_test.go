package kernel

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("update", false, "write the tables of system calls anew")

// The tables of names are those of golang.org/x/sys, from which they are made:
// go generate ./internal/sense/kernel. That package has the numbers as constants,
// which a program cannot ask for a name.
func TestSyscallNamesAreThoseOfSys(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		name := "syscalls_" + arch + ".txt"
		want := tableOf(t, filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go"))
		if *rewrite {
			if err := os.WriteFile(name, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: go generate ./internal/sense/kernel (%v)", name, err)
		}
	}
}

// tableOf turns a file of constants, SYS_OPENAT = 257, into ours.
func tableOf(t *testing.T, path string) []byte {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name, isCall := strings.CutPrefix(spec.Names[0].Name, "SYS_")
		if isCall && name != "ARCH_SPECIFIC_SYSCALL" { // where the numbers of an architecture begin
			fmt.Fprintf(&b, "%s %s\n", spec.Values[0].(*ast.BasicLit).Value, strings.ToLower(name))
		}
		return false
	})
	return b.Bytes()
}
