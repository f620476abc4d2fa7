package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// ServeLocal answers on an address of loopback, to nobody else, until the context ends.
// Ready is called with the address.
func ServeLocal(ctx context.Context, listen string, h http.Handler, ready func(address string)) error {
	if err := Reachable(listen, false, false, false); err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: local(h), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second/2)
		defer cancel()
		_ = s.Shutdown(late) // who still reads has had its time
	})
	defer stop()
	ready(l.Addr().String())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
