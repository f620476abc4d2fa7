// Package reading is the reading room, where visitors ask for registers.
package reading

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"parishrolls/internal/export"
	"parishrolls/internal/roll"
)

// Room answers visitors.
type Room struct {
	registers []*roll.Register
	release   bool
}

// New opens a room with registers.
func New(registers []*roll.Register, release bool) *Room {
	return &Room{registers: registers, release: release}
}

// Handler returns the routes of the room.
func (rm *Room) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /registers/{n}/years", rm.years)
	mux.HandleFunc("GET /registers/{n}/find", rm.find)
	return mux
}

func (rm *Room) register(r *http.Request) (*roll.Register, error) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 || n >= len(rm.registers) {
		return nil, fmt.Errorf("no register %q", r.PathValue("n"))
	}
	return rm.registers[n], nil
}

// years counts the entries of each decade.
func (rm *Room) years(w http.ResponseWriter, r *http.Request) {
	reg, err := rm.register(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	counts := map[string]int{}
	sc := bufio.NewScanner(export.Stream(reg))
	for sc.Scan() {
		if line := sc.Text(); line[0] != '#' {
			counts[line[:3]+"0"]++
		}
	}
	json.NewEncoder(w).Encode(counts)
}

// find returns the first entry with a name and kind.
func (rm *Room) find(w http.ResponseWriter, r *http.Request) {
	reg, err := rm.register(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	line, ok := rm.first(reg, r.FormValue("name"), r.FormValue("kind"))
	if !ok {
		http.Error(w, "no such entry", http.StatusNotFound)
		return
	}
	json.NewEncoder(w).Encode(strings.Split(line, ","))
}

func (rm *Room) first(reg *roll.Register, name, kind string) (string, bool) {
	src := export.Stream(reg)
	if rm.release {
		defer src.Close()
	}
	sc := bufio.NewScanner(src)
	for sc.Scan() {
		f := strings.SplitN(sc.Text(), ",", 4)
		if len(f) == 4 && f[1] == kind && f[2] == name {
			return sc.Text(), true
		}
	}
	return "", false
}
