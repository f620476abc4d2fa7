// Gatewaysettings keeps the settings of tenants and tells the sessions of a gateway when
// those of their tenant are changed by an operator.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"gatewaysettings/internal/operators"
	"gatewaysettings/internal/registry"
	"gatewaysettings/internal/sessions"
	"gatewaysettings/internal/web"
)

func main() {
	seconds := flag.Int("seconds", 6, "how long it works")
	rate := flag.Int("rate", 120, "how many changes are made each second")
	tenants := flag.Int("tenants", 400, "how many tenants there are")
	each := flag.Int("sessions", 8, "how many sessions a tenant has")
	scope := flag.String("scope", "table", "what a session subscribes to: table or tenant")
	flag.Parse()

	reg, err := registry.New(*scope)
	if err != nil {
		log.Fatal(err)
	}
	for i := range *tenants {
		reg.Put(registry.Tenant(i), map[string]string{"tier": "basic", "region": "north"})
	}
	ctx, cancel := context.WithCancel(context.Background())
	gateway := sessions.NewGateway(reg)
	for i := range *tenants * *each {
		gateway.Connect(ctx, registry.Tenant(i%*tenants))
	}
	server := httptest.NewServer(web.Routes(reg))
	defer server.Close()

	err = operators.New(server.URL, server.Client(), *tenants).Work(*rate, time.Duration(*seconds)*time.Second)
	cancel()
	gateway.Wait()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sessions told:", gateway.Told())
	fmt.Printf("operations: %d\n", *rate**seconds)
}
