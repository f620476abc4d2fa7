package clickhouse

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A current ClickHouse conforms, too: chDB, behind a server of the test's own. GOWHY_PYTHON
// names an interpreter that has chdb-core.
func TestCurrentVersion(t *testing.T) {
	attempt.Only(t, "chDB takes seconds to start")
	python := os.Getenv("GOWHY_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import chdb").Run(); err != nil {
		t.Skipf("%s has no chDB (pip install chdb-core; GOWHY_PYTHON=…): this test needs a current ClickHouse", python)
	}
	server := exec.Command(python, "testdata/chdb_server.py", t.TempDir())
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // its directory goes with the test
		_ = server.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, 0)
	o.Shards = [][]string{{"http://127.0.0.1:" + strings.TrimSpace(port)}}
	var reference storetest.Reference
	s := mustOpen(t, o)
	writeAll(t, storetest.Batches(), s, &reference)
	s = reopen(t, s).(*Store)
	writeAll(t, storetest.Batches(), s)
	storetest.Compare(t, s, &reference, 30)
	testFindings(t, s)
}
