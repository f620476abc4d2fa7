// Validatorstart checks the settings in a file, like a tool that runs before each commit.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/go-playground/validator/v10"
)

type settings struct {
	Name    string   `json:"name" validate:"required"`
	Port    int      `json:"port" validate:"min=1,max=65535"`
	Workers int      `json:"workers" validate:"gte=1"`
	Tags    []string `json:"tags" validate:"dive,required"`
}

const example = `{"name": "mail", "port": 25, "workers": 4, "tags": ["east", "night"]}`

func check(text []byte) error {
	var s settings
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	return validator.New().Struct(s)
}

func main() {
	path := flag.String("file", "", "check this `file` instead of an example")
	flag.Parse()
	text := []byte(example)
	if *path != "" {
		var err error
		if text, err = os.ReadFile(*path); err != nil {
			log.Fatal(err)
		}
	}
	if err := check(text); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the settings are fine")
	fmt.Println("operations: 1")
}
