package cli

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// The whole way: queries of a file to a server that sends each back as the
// answer that there is no such name, and the result read as evidence.
func TestLoadDNS(t *testing.T) {
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		packet := make([]byte, 1<<16)
		for {
			n, from, err := server.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			packet[2], packet[3] = packet[2]|0x80, 3
			_, _ = server.WriteToUDPAddrPort(packet[:n], from)
		}
	}()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "queries.txt"), []byte("; two\na.example.org A\nb.example.org AAAA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gowhy := exec.Command(os.Args[0], "load", "dns", server.LocalAddr().String(), "--queries", "queries.txt", "--edns", "--sockets", "2", "--rate", "500", "-n", "100", "-o", "load.json")
	gowhy.Dir, gowhy.Env = dir, append(os.Environ(), mainEnv+"=1", "NO_COLOR=1")
	var errors bytes.Buffer
	gowhy.Stderr = &errors
	text, err := gowhy.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errors)
	}
	for _, want := range []string{"100 of 100 operations done", "over UDP, 2 queries in turn; open loop", "\nanswers\n      100  NXDOMAIN\n", "at most 2 connections"} {
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	f, err := os.Open(filepath.Join(dir, "load.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := loadresult.Parse(f)
	if err != nil || r.Ops != 100 || r.Failed != 0 || len(r.Answers) != 1 || r.Answers[0] != (loadresult.Failure{What: "NXDOMAIN", N: 100}) {
		t.Errorf("Parse(load.json) = %+v, %v, want 100 operations, none failed, 100 answers NXDOMAIN", r, err)
	}
}
