package site

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gowhy/gowhy/internal/prove/load"
)

// spread returns one protocol of several: connections go to each in turn.
func spread(make []func() (load.Protocol, error)) (load.Protocol, error) {
	var list []load.Protocol
	for _, one := range make {
		p, err := one()
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return &spreadProtocol{Protocol: list[0], list: list}, nil
}

type spreadProtocol struct {
	load.Protocol
	list []load.Protocol
	next atomic.Int64
}

func (s *spreadProtocol) Dial(ctx context.Context) (load.Conn, error) {
	return s.list[int((s.next.Add(1)-1)%int64(len(s.list)))].Dial(ctx)
}

func (s *spreadProtocol) String() string {
	return fmt.Sprintf("%v and %d more", s.Protocol, len(s.list)-1)
}
