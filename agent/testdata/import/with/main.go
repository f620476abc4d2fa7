// With is without, and the import.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"

	_ "github.com/gowhy/gowhy/agent"
)

func main() {
	fmt.Println(runtime.NumGoroutine())
	if len(os.Args) > 1 {
		http.ListenAndServe(os.Args[1], nil)
	}
}
