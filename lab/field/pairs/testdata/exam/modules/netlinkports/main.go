// Netlinkports watches the network interfaces of a host for an agent of a cluster: its
// watchers ask the kernel for each of them, again and again.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mdlayher/netlink"
)

const (
	route   = 0  // NETLINK_ROUTE
	getLink = 18 // RTM_GETLINK
)

// A watcher looks after one interface.
type watcher struct {
	conn  *netlink.Conn
	index uint32
}

// state asks for the attributes of the interface.
func (w *watcher) state() (attributes int, err error) {
	ask := make([]byte, 16)
	binary.NativeEndian.PutUint32(ask[4:], w.index)
	replies, err := w.conn.Execute(netlink.Message{
		Header: netlink.Header{Type: getLink, Flags: netlink.Request}, Data: ask,
	})
	if err != nil {
		return 0, err
	}
	for _, m := range replies {
		if len(m.Data) < 16 {
			continue
		}
		d, err := netlink.NewAttributeDecoder(m.Data[16:])
		if err != nil {
			return 0, err
		}
		for d.Next() {
			attributes++
		}
	}
	return attributes, nil
}

func main() {
	rounds := flag.Int("rounds", 20_000, "how often each watcher asks")
	watchers := flag.Int("watchers", 8, "how many watch")
	flag.Parse()
	var n atomic.Int64
	var all sync.WaitGroup
	for range *watchers {
		conn, err := netlink.Dial(route, nil)
		if err != nil {
			log.Fatal(err)
		}
		w := &watcher{conn: conn, index: 1}
		all.Go(func() {
			defer conn.Close()
			for i := range *rounds {
				attributes, err := w.state()
				if err != nil {
					log.Fatal(err)
				}
				n.Add(int64(attributes))
				if i%50 == 49 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	fmt.Println("attributes:", n.Load())
	fmt.Println("operations:", *rounds**watchers)
}
