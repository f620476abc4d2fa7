// Without serves HTTP; it is what a program is before it imports the agent.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
)

func main() {
	fmt.Println(runtime.NumGoroutine())
	if len(os.Args) > 1 {
		http.ListenAndServe(os.Args[1], nil)
	}
}
