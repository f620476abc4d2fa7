package calendar

import "time"

// Holiday is a rule for a day off. Either Month and Day are set, or Easter
// is the distance to Easter Sunday, or Nth and Weekday pick a day of Month.
type Holiday struct {
	Name    string
	Month   time.Month
	Day     int
	Movable bool
	Easter  int
	Nth     int
	Weekday time.Weekday
}

// On returns the date of the holiday in year.
func (h Holiday) On(year int) time.Time {
	var t time.Time
	switch {
	case h.Movable:
		t = easter(year).AddDate(0, 0, h.Easter)
	case h.Nth > 0:
		t = time.Date(year, h.Month, 1, 0, 0, 0, 0, time.UTC)
		t = t.AddDate(0, 0, (int(h.Weekday)-int(t.Weekday())+7)%7+7*(h.Nth-1))
	default:
		t = time.Date(year, h.Month, h.Day, 0, 0, 0, 0, time.UTC)
	}
	return t
}

func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	g := (8*b + 13) / 25
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Date(year, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}

var (
	newYear   = Holiday{Name: "New Year", Month: time.January, Day: 1}
	goodFri   = Holiday{Name: "Good Friday", Movable: true, Easter: -2}
	easterMon = Holiday{Name: "Easter Monday", Movable: true, Easter: 1}
	labour    = Holiday{Name: "Labour Day", Month: time.May, Day: 1}
	ascension = Holiday{Name: "Ascension", Movable: true, Easter: 39}
	whitMon   = Holiday{Name: "Whit Monday", Movable: true, Easter: 50}
	christmas = Holiday{Name: "Christmas", Month: time.December, Day: 25}
	boxing    = Holiday{Name: "Boxing Day", Month: time.December, Day: 26}
)

// Regions are the regions that the depots are in.
func Regions() []*Region {
	return []*Region{
		{Code: "DE", holidays: []Holiday{newYear, goodFri, easterMon, labour, ascension, whitMon,
			{Name: "Unity", Month: time.October, Day: 3}, christmas, boxing}},
		{Code: "NL", holidays: []Holiday{newYear, goodFri, easterMon,
			{Name: "King", Month: time.April, Day: 27}, ascension, whitMon, christmas, boxing}},
		{Code: "FR", holidays: []Holiday{newYear, easterMon, labour,
			{Name: "Victory", Month: time.May, Day: 8}, ascension, whitMon,
			{Name: "Bastille", Month: time.July, Day: 14}, {Name: "Armistice", Month: time.November, Day: 11}, christmas}},
		{Code: "GB", holidays: []Holiday{{Name: "New Year", Month: time.January, Day: 1}, goodFri, easterMon,
			{Name: "Early May", Month: time.May, Nth: 1, Weekday: time.Monday}, labour, christmas, boxing,
			{Name: "Spring", Month: time.May, Nth: 4, Weekday: time.Monday}}},
	}
}
