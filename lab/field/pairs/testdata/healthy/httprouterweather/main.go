// Httprouterweather answers with the forecast of a city for some days, routed by httprouter.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/julienschmidt/httprouter"
)

type hour struct {
	At       int     `json:"at"`
	Degrees  float64 `json:"degrees"`
	Humidity float64 `json:"humidity"`
	Wind     float64 `json:"wind"`
}

// forecast is a model of the weather: waves of a day and of a week.
func forecast(city string, days int) []hour {
	phase := 0.0
	for _, c := range city {
		phase += float64(c) / 100
	}
	out := make([]hour, 0, 24*days)
	for h := range 24 * days {
		day, week := 2*math.Pi*float64(h)/24, 2*math.Pi*float64(h)/168
		out = append(out, hour{
			At:       h,
			Degrees:  math.Round(10*(12+8*math.Sin(day+phase)+3*math.Cos(week))) / 10,
			Humidity: math.Round(100 * (0.6 + 0.2*math.Cos(day+phase))),
			Wind:     math.Round(10*math.Abs(6*math.Sin(week+phase))) / 10,
		})
	}
	return out
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func show(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	days, err := strconv.Atoi(p.ByName("days"))
	if err != nil || days < 1 || days > 14 {
		http.Error(w, "days are 1 to 14", http.StatusBadRequest)
		return
	}
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := json.NewEncoder(b).Encode(forecast(p.ByName("city"), days)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes())
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	router := httprouter.New()
	router.GET("/forecast/:city/:days", show)
	server := &http.Server{Handler: router, ReadHeaderTimeout: 5 * time.Second}
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
