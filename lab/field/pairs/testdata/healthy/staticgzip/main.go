// Staticgzip serves the files of a folder, compressed by CAFxX/httpcompression for clients that accept it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/CAFxX/httpcompression"
)

// fill writes pages into a folder, as a generator of sites would have.
func fill(dir string) error {
	for i := range 50 {
		var b strings.Builder
		b.WriteString("<!doctype html><title>Page " + strconv.Itoa(i) + "</title>\n")
		for p := range 120 {
			fmt.Fprintf(&b, "<p id=p%d>Paragraph %d of page %d speaks of %d things and of %d more.</p>\n", p, p, i, p*i%97, p*7%31)
		}
		if err := os.WriteFile(filepath.Join(dir, "page"+strconv.Itoa(i)+".html"), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	dir := flag.String("dir", ".", "what to serve; pages are written into it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := fill(*dir); err != nil {
		log.Fatal(err)
	}
	compress, err := httpcompression.DefaultAdapter()
	if err != nil {
		log.Fatal(err)
	}
	files := compress(http.FileServer(http.Dir(*dir)))
	server := &http.Server{Handler: files, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
