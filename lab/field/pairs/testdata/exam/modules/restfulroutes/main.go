// Restfulroutes finds the functions of an interface with many paths, as its server does.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	restful "github.com/emicklei/go-restful/v3"
)

var kinds = []string{"users", "groups", "orders", "invoices", "shipments", "returns", "articles", "prices", "stocks", "places"}

func answer(req *restful.Request, resp *restful.Response) {
	resp.WriteHeader(http.StatusOK)
	_, _ = resp.Write([]byte(req.PathParameter("id")))
}

func container() *restful.Container {
	c := restful.NewContainer()
	c.Router(restful.CurlyRouter{})
	for _, kind := range kinds {
		ws := new(restful.WebService).Path("/api/" + kind)
		ws.Route(ws.GET("/{tenant}").To(answer))
		ws.Route(ws.GET("/{tenant}/{id}").To(answer))
		ws.Route(ws.PUT("/{tenant}/{id}").To(answer))
		ws.Route(ws.DELETE("/{tenant}/{id}").To(answer))
		for _, part := range []string{"notes", "files", "history", "labels", "owners"} {
			ws.Route(ws.GET("/{tenant}/{id}/" + part).To(answer))
			ws.Route(ws.GET("/{tenant}/{id}/" + part + "/{part:[0-9]+}").To(answer))
			ws.Route(ws.PUT("/{tenant}/{id}/" + part + "/{part:[0-9]+}").To(answer))
		}
		c.Add(ws)
	}
	return c
}

func main() {
	requests := flag.Int("requests", 60000, "requests to answer")
	flag.Parse()
	c := container()
	for i := range *requests {
		kind := kinds[i%len(kinds)]
		path := fmt.Sprintf("/api/%s/t%d/%d/owners/%d", kind, i%5, i, i%9)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodPut, path, nil))
		if w.Code != http.StatusOK {
			log.Fatal(path, ": ", w.Code)
		}
	}
	fmt.Printf("operations: %d\n", *requests)
}
