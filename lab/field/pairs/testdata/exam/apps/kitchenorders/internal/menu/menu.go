// Package menu has the dishes of a canteen.
package menu

import "fmt"

// A Dish is made in steps.
type Dish struct {
	Name  string
	Cents int
	Steps []Step
}

// A Step takes some grams of something.
type Step struct {
	Verb       string
	Ingredient string
	Grams      int
}

// A Menu has dishes.
type Menu struct{ dishes []Dish }

var (
	verbs       = []string{"chop", "fry", "boil", "season", "fold in", "grate"}
	ingredients = []string{"onions", "lentils", "rice", "carrots", "cheese", "beans", "noodles"}
)

// Generate makes up a menu.
func Generate(dishes int) *Menu {
	m := &Menu{}
	for d := range dishes {
		dish := Dish{Name: fmt.Sprintf("dish-%02d", d), Cents: 350 + d*17%400}
		for s := range 6 + d%5 {
			dish.Steps = append(dish.Steps, Step{verbs[(d+s)%len(verbs)], ingredients[(d*3+s)%len(ingredients)], 40 + (d+s*13)%160})
		}
		m.dishes = append(m.dishes, dish)
	}
	return m
}

// Dish is one of them; numbers begin anew after the last.
func (m *Menu) Dish(n int) *Dish { return &m.dishes[n%len(m.dishes)] }
