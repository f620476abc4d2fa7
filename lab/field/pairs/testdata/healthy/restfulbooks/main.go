// Restfulbooks is an interface for books, made with go-restful.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"

	restful "github.com/emicklei/go-restful/v3"
)

type book struct {
	ID     int      `json:"id"`
	Title  string   `json:"title"`
	Topics []string `json:"topics"`
}

type shelf struct{ books []book }

func (s *shelf) get(req *restful.Request, resp *restful.Response) {
	n, err := strconv.Atoi(req.PathParameter("id"))
	if err != nil || n < 0 || n >= len(s.books) {
		_ = resp.WriteErrorString(http.StatusNotFound, "no such book")
		return
	}
	_ = resp.WriteAsJson(s.books[n])
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	flag.Parse()
	s := &shelf{}
	for i := range 2000 {
		s.books = append(s.books, book{i, fmt.Sprint("Volume ", i), []string{"history", "sea"}})
	}
	ws := new(restful.WebService).Path("/books").Produces(restful.MIME_JSON)
	ws.Route(ws.GET("/{id}").To(s.get))
	c := restful.NewContainer()
	c.Add(ws)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, c))
}
