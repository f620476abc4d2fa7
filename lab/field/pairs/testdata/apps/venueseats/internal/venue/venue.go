// Package venue describes halls and their seats.
package venue

import "fmt"

type State uint8

const (
	Free State = iota
	Held
	Sold
)

type Seat struct {
	Label string
	State State
	Price int32
	Until int64
}

type Row struct {
	Label string
	Seats []Seat
}

type Section struct {
	Name string
	Rank int
	Tags map[string]string
	Rows []Row
}

type Event struct {
	ID       int
	Title    string
	Version  int
	Sections []Section
}

// Clone copies an event with all that belongs to it.
func (e *Event) Clone() *Event {
	c := *e
	c.Sections = make([]Section, len(e.Sections))
	for i := range e.Sections {
		s := e.Sections[i]
		tags := make(map[string]string, len(s.Tags))
		for k, v := range s.Tags {
			tags[k] = v
		}
		s.Tags = tags
		rows := make([]Row, len(s.Rows))
		for r := range s.Rows {
			rows[r] = s.Rows[r]
			rows[r].Seats = append([]Seat(nil), s.Rows[r].Seats...)
		}
		s.Rows = rows
		c.Sections[i] = s
	}
	return &c
}

// NewEvent makes up a hall.
func NewEvent(id, sections, rows, seats int) *Event {
	e := &Event{ID: id, Title: fmt.Sprintf("Evening %d", id)}
	for s := range sections {
		sec := Section{Name: fmt.Sprintf("Block %c", 'A'+s), Rank: s, Tags: map[string]string{"door": fmt.Sprint(s / 2), "level": fmt.Sprint(s % 3)}}
		for r := range rows {
			row := Row{Label: fmt.Sprint(r + 1)}
			for n := range seats {
				row.Seats = append(row.Seats, Seat{Label: fmt.Sprint(n + 1), Price: int32(9000 - 600*s - 40*r)})
			}
			sec.Rows = append(sec.Rows, row)
		}
		e.Sections = append(e.Sections, sec)
	}
	return e
}
