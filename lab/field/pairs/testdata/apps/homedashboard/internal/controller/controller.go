// Package controller stands for the controllers of a house.
package controller

import (
	"fmt"
	"net/http"
	"time"
)

// Handler answers for a part of the house in a time.
func Handler(name string, think time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(think)
		fmt.Fprintf(w, `{"part":%q,"ok":true}`, name)
	})
}
