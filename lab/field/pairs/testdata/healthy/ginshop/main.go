// Ginshop is the JSON interface of a shop, made with gin: products, and prices of carts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
)

type product struct {
	ID    int     `json:"id"`
	Name  string  `json:"name"`
	Price float64 `json:"price"`
	Stock int     `json:"stock"`
}

type line struct {
	Product int `json:"product" binding:"gte=0"`
	Count   int `json:"count" binding:"required,gt=0,lte=100"`
}

type cart struct {
	Customer string `json:"customer" binding:"required"`
	Lines    []line `json:"lines" binding:"required,max=50,dive"`
}

type shop struct{ products []product }

func newShop(n int) *shop {
	s := &shop{products: make([]product, n)}
	for i := range s.products {
		s.products[i] = product{i, "Product " + strconv.Itoa(i), float64(i%90) + 0.99, i % 7}
	}
	return s
}

func (s *shop) show(c *gin.Context) {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil || id < 0 || id >= len(s.products) {
		c.JSON(http.StatusNotFound, gin.H{"error": "no such product"})
		return
	}
	c.JSON(http.StatusOK, s.products[id])
}

func (s *shop) price(c *gin.Context) {
	var in cart
	if err := c.ShouldBindJSON(&in); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	var total float64
	rows := make([]gin.H, 0, len(in.Lines))
	for _, l := range in.Lines {
		if l.Product >= len(s.products) {
			c.JSON(http.StatusNotFound, gin.H{"error": "no such product"})
			return
		}
		p := &s.products[l.Product]
		sum := p.Price * float64(l.Count)
		total += sum
		rows = append(rows, gin.H{"name": p.Name, "count": l.Count, "sum": sum})
	}
	c.JSON(http.StatusOK, gin.H{"customer": in.Customer, "rows": rows, "total": total})
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	s := newShop(500)
	router.GET("/products/:id", s.show)
	router.POST("/carts/price", s.price)
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
