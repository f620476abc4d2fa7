// Weatherbodies answers for the weather of a town, which it asks a service for.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// service stands for the weather's own server.
func service() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	forecast := strings.Repeat("hour temperature wind rain\n", 400)
	mux := http.NewServeMux()
	mux.HandleFunc("/towns/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Celsius", fmt.Sprint(len(r.URL.Path)%30))
		fmt.Fprint(w, forecast)
	})
	go func() { log.Fatal(http.Serve(l, mux)) }()
	return "http://" + l.Addr().String(), nil
}

type weather struct {
	base   string
	client *http.Client
	leave  bool
}

// celsius is the temperature of a town.
func (o *weather) celsius(town string) (string, error) {
	resp, err := o.client.Get(o.base + "/towns/" + url.PathEscape(town))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", town, resp.Status)
	}
	if o.leave {
		return resp.Header.Get("X-Celsius"), nil
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.Header.Get("X-Celsius"), err
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	leave := flag.Bool("headers-only", false, "take the temperature from the header only")
	flag.Parse()
	base, err := service()
	if err != nil {
		log.Fatal(err)
	}
	o := &weather{base, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, *leave}
	http.HandleFunc("GET /weather", func(w http.ResponseWriter, r *http.Request) {
		c, err := o.celsius(r.FormValue("town"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, c, "degrees")
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
