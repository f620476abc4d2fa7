package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// An order is what a message tells, and what rules are about.
type order struct {
	ID       int64
	Customer string
	Home     string // country of the customer
	Country  string // from which it was ordered
	Age      int    // of the customer, in years
	Orders   int    // so far
	Amount   int    // in whole units of money
	Hour     int
	Weekday  int // 1 is Monday
	Items    []string
}

// A decision is what the rules make of an order, and a row of the database.
type decision struct {
	order int64
	rule  string // first that matched, passed if none did
	count int    // of rules that matched
}

const passed = "pass"

//go:embed rules.txt
var rulesText string

// A rule is one line of rules.txt.
type rule struct {
	name, source string
	program      *vm.Program
}

// parseRules reads and compiles rules: "NAME: EXPRESSION" in each line.
func parseRules(text string) ([]rule, error) {
	var rules []rule
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, source, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("rules, line %d: there is no colon after the name", i+1)
		}
		program, err := compile(source)
		if err != nil {
			return nil, fmt.Errorf("rules, line %d: %w", i+1, err)
		}
		rules = append(rules, rule{name, source, program})
	}
	return rules, nil
}

func compile(source string) (*vm.Program, error) {
	return expr.Compile(source, expr.Env(&order{}), expr.AsBool()) // want hotfunction
}

// A matcher applies all rules to orders, one after the other. Each worker has
// its own: the machine that runs expressions is used again for the next.
type matcher struct {
	rules   []rule
	compile bool // every rule anew for every order, which is an illness
	machine vm.VM
}

func (m *matcher) match(o *order) (decision, error) {
	d := decision{order: o.ID, rule: passed}
	for i := range m.rules {
		program, err := m.program(&m.rules[i])
		if err != nil {
			return d, err
		}
		matched, err := m.machine.Run(program, o)
		if err != nil {
			return d, fmt.Errorf("rule %s, order %d: %w", m.rules[i].name, o.ID, err)
		}
		if matched != true {
			continue
		}
		if d.count++; d.count == 1 {
			d.rule = m.rules[i].name
		}
	}
	return d, nil
}

// program returns the compiled rule.
func (m *matcher) program(r *rule) (*vm.Program, error) {
	if m.compile {
		return compile(r.source)
	}
	return r.program, nil
}

// newOrder returns the order with a number, the same in every run.
func newOrder(id int64) order {
	r := rand.New(rand.NewPCG(uint64(id), 1))
	countries := []string{"AT", "BE", "CH", "DE", "FR", "IT", "NL", "PL", "XA"}
	kinds := []string{"book", "food", "game", "gift", "laptop", "office", "phone", "watch"}
	o := order{
		ID: id, Customer: "customer-" + strconv.FormatUint(r.Uint64N(100_000), 36),
		Home: countries[r.IntN(8)], Age: 18 + r.IntN(70), Orders: r.IntN(100),
		Amount: 1 + r.IntN(1+r.IntN(10_000)), Hour: r.IntN(24), Weekday: 1 + r.IntN(7),
	}
	o.Country = o.Home
	if r.IntN(10) == 0 {
		o.Country = countries[r.IntN(len(countries))]
	}
	for range 1 + r.IntN(7) {
		o.Items = append(o.Items, kinds[r.IntN(len(kinds))]+"-"+strconv.Itoa(r.IntN(50)))
	}
	return o
}

// newMessage returns the order with a number as a message has it.
func newMessage(id int64) []byte {
	b, err := json.Marshal(newOrder(id))
	if err != nil {
		panic(err) // an order is plain data
	}
	return b
}
