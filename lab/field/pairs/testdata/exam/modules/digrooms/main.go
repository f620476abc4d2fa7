// Digrooms starts the service of a hotel, whose parts are put together by a container:
// repositories, services and handlers in layers, each of which uses some of those below.
package main

import (
	"flag"
	"fmt"
	"log"
	"reflect"
	"strings"
	"time"

	"go.uber.org/dig"
)

// A Part is one of the service's.
type Part struct {
	Name string
	Uses int
}

var (
	inType  = reflect.TypeFor[dig.In]()
	outType = reflect.TypeFor[dig.Out]()
	ofParts = reflect.TypeFor[*Part]()
)

func fields(first reflect.Type, names []string) reflect.Type {
	all := []reflect.StructField{{Name: first.Name(), Type: first, Anonymous: true}}
	for i, name := range names {
		all = append(all, reflect.StructField{
			Name: fmt.Sprintf("P%d", i), Type: ofParts, Tag: reflect.StructTag(fmt.Sprintf("name:%q", name)),
		})
	}
	return reflect.StructOf(all)
}

// constructor makes the function that makes the part out of those that it uses.
func constructor(name string, uses []string) any {
	out := fields(outType, []string{name})
	var in []reflect.Type
	if len(uses) > 0 {
		in = append(in, fields(inType, uses))
	}
	f := reflect.FuncOf(in, []reflect.Type{out}, false)
	return reflect.MakeFunc(f, func(args []reflect.Value) []reflect.Value {
		v := reflect.New(out).Elem()
		v.Field(1).Set(reflect.ValueOf(&Part{Name: name, Uses: len(uses)}))
		return []reflect.Value{v}
	}).Interface()
}

// start puts the service together.
func start(layers, width int) (*dig.Container, error) {
	c := dig.New()
	name := func(layer, i int) string { return fmt.Sprintf("layer%d.part%d", layer, i%width) }
	for layer := range layers {
		for i := range width {
			var uses []string
			if layer > 0 {
				uses = []string{name(layer-1, i), name(layer-1, i+1), name(layer-1, i+2)}
			}
			if err := c.Provide(constructor(name(layer, i), uses)); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func main() {
	layers := flag.Int("layers", 14, "layers of parts")
	bookings := flag.Int("bookings", 2000, "how many bookings are taken")
	flag.Parse()
	begin := time.Now()
	c, err := start(*layers, 4)
	if err != nil {
		log.Fatal(err)
	}
	top := constructorUser(*layers - 1)
	if err := c.Invoke(top); err != nil {
		log.Fatal(err)
	}
	log.Print("ready after ", time.Since(begin).Round(time.Millisecond))
	letters := 0
	for i := range *bookings {
		letters += len(strings.Fields(strings.Repeat(fmt.Sprintf("room %d for two ", i), 400)))
		time.Sleep(time.Millisecond)
	}
	fmt.Println("words:", letters)
	fmt.Println("operations:", *bookings)
}

// constructorUser asks for one of the parts of the top layer.
func constructorUser(layer int) any {
	in := fields(inType, []string{fmt.Sprintf("layer%d.part0", layer)})
	f := reflect.FuncOf([]reflect.Type{in}, nil, false)
	return reflect.MakeFunc(f, func(args []reflect.Value) []reflect.Value {
		log.Print("first: ", args[0].Field(1).Interface().(*Part).Name)
		return nil
	}).Interface()
}
