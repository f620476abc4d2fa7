package record

import (
	"context"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// maxHeapDump bounds what a server may send.
const maxHeapDump = 64 << 30

// HeapDump writes the heap dump that a program's agent gives, where its environment allows that. The program
// is stopped until it has written it.
func HeapDump(ctx context.Context, target string, w io.Writer) error {
	e, err := find(ctx, target)
	if err != nil {
		return err
	}
	at := withoutSecrets(e.base)
	if !e.agent || !e.offers("heapdump") {
		return problem.New(problem.Absence, "start the program with GOWHY_AGENT_HEAPDUMP=1 in its environment; or write a file by debug.WriteHeapDump",
			"%s gives no heap dump: that needs gowhy's agent in the program, and to be allowed, for it has all contents of the memory", at)
	}
	resp, err := e.request(ctx, e.handlerURL("heapdump"))
	if err != nil {
		return problem.New(problem.Failure, "", "no heap dump from %s: %w", at, err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(w, io.LimitReader(resp.Body, maxHeapDump))
	if err == nil && n == maxHeapDump {
		err = fmt.Errorf("more than %d GiB were sent", maxHeapDump>>30)
	}
	if err != nil {
		return problem.New(problem.Failure, "", "the heap dump of %s: %w", at, err)
	}
	return nil
}
