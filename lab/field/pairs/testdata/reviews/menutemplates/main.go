// Menutemplates shows the menu of a restaurant.
package main

import (
	"flag"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"time"
)

type dish struct {
	Name  string
	Cents int
	Vegan bool
}

type menu struct {
	Day    string
	Closed bool
	Dishes []dish
}

const page = `<html><head><title>{{.Day}}</title><style>td { padding: 1em }</style></head>
<body class="menu"><nav><a href="/">home</a> <a href="/menu?day={{.Day}}">menu</a> <a href="/wines">wines</a></nav>
{{if .Closed}}<p class="note">We are closed on {{.Day}}.</p>{{else}}<p class="note">Open from 11 to 23.</p>{{end}}<h1>Menu of {{.Day}}</h1><table>
{{range $i, $d := .Dishes}}<tr id="d{{$i}}"><td>{{$d.Name}}</td><td>{{price $d.Cents}}</td>
<td>{{if $d.Vegan}}vegan{{else}}&mdash;{{end}}</td><td><a href="/order?dish={{$d.Name}}">order</a></td></tr>
{{end}}</table><script>let day = {{.Day}};</script></body></html>`

var functions = template.FuncMap{"price": func(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }}

func parse() (*template.Template, error) { return template.New("menu").Funcs(functions).Parse(page) }

type kitchen struct {
	dishes []dish
	page   *template.Template // nil while the page is being designed
}

func (k *kitchen) show(w http.ResponseWriter, _ *http.Request) {
	t := k.page
	if t == nil {
		var err error
		if t, err = parse(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if err := t.Execute(w, menu{Day: time.Now().Weekday().String(), Dishes: k.dishes}); err != nil {
		log.Print(err)
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	design := flag.Bool("design", false, "the page is being designed")
	flag.Parse()
	k := &kitchen{}
	for i := range 4 {
		k.dishes = append(k.dishes, dish{fmt.Sprintf("Dish <%d>", i), 900 + i*150, i%3 == 0})
	}
	if !*design {
		k.page = template.Must(parse())
	}
	http.HandleFunc("GET /menu", k.show)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
