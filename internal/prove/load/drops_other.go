//go:build !linux || 386 || s390x

package load

import "net"

func dropped(net.Conn) int64 { return 0 }
