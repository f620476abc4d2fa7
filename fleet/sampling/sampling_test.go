package sampling

import (
	"fmt"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A scene is a plan with a clock of its own, and recordings.
type scene struct {
	*Plan
	clock time.Time
	kept  map[Subject][]Last
}

func staged(o Options) *scene {
	s := &scene{clock: noon, kept: map[Subject][]Last{}}
	s.Plan = New(o, func(of Subject) []Last { return s.kept[of] }, func() time.Time { return s.clock })
	return s
}

// keep has a recording arrive that began some time ago.
func (s *scene) keep(of Subject, ago time.Duration, why string) {
	s.kept[of] = append([]Last{{s.clock.Add(-ago), why}}, s.kept[of]...)
	s.EndLease(of)
}

func (s *scene) later(d time.Duration) { s.clock = s.clock.Add(d) }

// order returns what an agent is told: SERVICE VERSION INSTANCE: WHY.
func order(a api.Wanted) string {
	if a.Record == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s: %s", a.Record.Service, a.Record.Version, a.Record.Instance, a.Record.Why)
}

func ask(agent string, versions ...string) api.Offer {
	a := api.Offer{Agent: agent}
	for _, v := range versions {
		a.Programs = append(a.Programs, api.Program{Service: "shop", Version: v, Instance: agent})
	}
	return a
}

func shop(version string) Subject { return Subject{"", "shop", version} }

// Whoever records a version whose heap grows looks at who holds it, for whatever reason it is recorded.
func TestGrowing(t *testing.T) {
	s := staged(Options{Most: 4})
	for _, c := range []struct {
		growing []Subject
		want    bool
	}{{nil, false}, {[]Subject{shop("v2")}, false}, {[]Subject{shop("v2"), shop("v1")}, true}, {[]Subject{{"b", "shop", "v1"}}, false}, {nil, false}} {
		s.Growing("", c.growing)
		if _, ok := s.Wish(shop("v1")); !ok {
			t.Fatal("there is no room for a wish")
		}
		got := s.Ask("", ask("h", "v1")).Record
		if got == nil || got.Holders != c.want {
			t.Errorf("with %v Ask() = %+v, want holders %v", c.growing, got, c.want)
		}
		s.EndLease(shop("v1"))
	}
}

// TestWants holds which of two versions is recorded, and why.
func TestWants(t *testing.T) {
	hourly := Options{Every: time.Hour, Length: 5 * time.Second, Most: 4}
	for _, c := range []struct {
		name string
		o    Options
		set  func(s *scene)
		want string
	}{
		{"none yet", hourly, func(*scene) {}, "shop v1 h: no recording yet"},
		{"one is fresh", hourly, func(s *scene) { s.keep(shop("v1"), 59*time.Minute, "") }, "shop v2 h: no recording yet"},
		{"both are", hourly, func(s *scene) { s.keep(shop("v1"), 0, ""); s.keep(shop("v2"), 0, "") }, ""},
		{"the older one", hourly, func(s *scene) { s.keep(shop("v1"), time.Hour, ""); s.keep(shop("v2"), 2*time.Hour, "") }, "shop v2 h: no recording for an hour"},
		{"each 90 minutes", Options{Every: 90 * time.Minute, Most: 1}, func(s *scene) { s.keep(shop("v1"), 0, ""); s.keep(shop("v2"), 2*time.Hour, "") }, "shop v2 h: no recording for 1h30m"},
		{"never in turn", Options{Most: 1}, func(*scene) {}, ""},
		{"a trigger", Options{Most: 1}, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v2"), "worse since v2", noon.Add(-time.Hour), noon}})
		}, "shop v2 h: worse since v2"},
		{"a trigger that a recording answers", Options{Most: 1}, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v2"), "worse since v2", noon.Add(-time.Hour), noon}})
			s.keep(shop("v2"), 0, "")
		}, ""},
		{"one from before it was seen", Options{Most: 1}, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v2"), "worse since v2", noon.Add(-time.Hour), noon}})
			s.keep(shop("v2"), time.Minute, "no recording yet")
		}, "shop v2 h: worse since v2"},
		{"one for the same reason, before a restart", Options{Most: 1}, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v2"), "worse since v2", noon.Add(-time.Hour), noon}})
			s.keep(shop("v2"), time.Minute, "worse since v2")
		}, ""},
		{"one for the same reason, an earlier time", Options{Most: 1}, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v2"), "worse since v2", noon.Add(-time.Hour), noon}})
			s.keep(shop("v2"), 2*time.Hour, "worse since v2")
		}, "shop v2 h: worse since v2"},
		{"a trigger that went", Options{Most: 1}, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v2"), "worse since v2", noon, noon}})
			s.Trigger("", nil)
		}, ""},
		{"of another tenant", Options{Most: 1}, func(s *scene) {
			s.Trigger("b", []Trigger{{Subject{"b", "shop", "v2"}, "worse since v2", noon, noon}})
			s.Wish(Subject{"b", "shop", ""})
		}, ""},
		{"an operator before a trigger", hourly, func(s *scene) {
			s.Trigger("", []Trigger{{shop("v1"), "worse since v1", noon, noon}})
			s.keep(shop("v2"), 0, "")
			s.Wish(shop("v2"))
		}, "shop v2 h: an operator asked for it"},
		{"any version", Options{Most: 1}, func(s *scene) { s.Wish(shop("")) }, "shop v1 h: an operator asked for it"},
		{"another service", Options{Most: 1}, func(s *scene) { s.Wish(Subject{Service: "cart"}) }, ""},
		{"nobody came for an hour", Options{Most: 1}, func(s *scene) { s.Wish(shop("")); s.later(time.Hour) }, ""},
	} {
		s := staged(c.o)
		c.set(s)
		if got := order(s.Ask("", ask("h", "v1", "v2"))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLeases holds that two agents do not record the same, nor more than the bound at once,
// and that leases end.
func TestLeases(t *testing.T) {
	s := staged(Options{Every: time.Hour, Length: 5 * time.Second, Most: 2})
	expect := func(what string, a api.Wanted, want string) {
		t.Helper()
		if got := order(a); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	expect("the first", s.Ask("", ask("h1", "v1")), "shop v1 h1: no recording yet")
	expect("the same on another host", s.Ask("", ask("h2", "v1")), "")
	expect("another version", s.Ask("", ask("h2", "v1", "v2")), "shop v2 h2: no recording yet")
	expect("a third at once", s.Ask("", ask("h3", "v3")), "")
	expect("of another tenant", s.Ask("b", ask("h3", "v3")), "")
	s.keep(shop("v1"), time.Second, "no recording yet")
	expect("after the first arrived", s.Ask("b", ask("h3", "v1")), "shop v1 h3: no recording yet")
	if c, held := s.Counts(); held != 2 || c.Orders != 3 || c.Arrived != 1 || c.Lapsed != 0 {
		t.Errorf("Counts() = %+v, %d held, want 3 orders, 1 arrived, none lapsed, 2 held", c, held)
	}

	// The second agent asks again: it has no recording.
	expect("what failed is not tried at once", s.Ask("", ask("h2", "v2")), "")
	if c, held := s.Counts(); held != 1 || c.Lapsed != 1 {
		t.Errorf("Counts() = %d lapsed, %d held, want 1, 1", c.Lapsed, held)
	}
	s.later(transfer)
	expect("but later, by another", s.Ask("", ask("h4", "v2")), "shop v2 h4: no recording yet")
	s.later(transfer + 5*time.Second) // that agent is never heard of again
	expect("what failed twice waits longer", s.Ask("", ask("h5", "v2")), "")
	s.later(2 * transfer)
	expect("and comes", s.Ask("", ask("h5", "v2")), "shop v2 h5: no recording yet")
	s.keep(shop("v2"), 0, "")
	s.later(time.Hour)
	expect("what arrived is no failure", s.Ask("", ask("h5", "v2")), "shop v2 h5: no recording for an hour")
}

// A recording that was not asked for ends no lease of another, and a wish counts from when
// it was made.
func TestArrived(t *testing.T) {
	s := staged(Options{Most: 4, Length: time.Second})
	s.Wish(shop("v1"))
	s.EndLease(shop("v1")) // it began before
	if got := order(s.Ask("", ask("h1", "v1"))); got == "" {
		t.Fatal("the wish is gone")
	}
	s.later(time.Second)
	s.Wish(shop("")) // while one is made: the next may have what it is about
	s.EndLease(shop("v1"))
	if got := order(s.Ask("", ask("h1", "v1"))); got != "shop v1 h1: an operator asked for it" {
		t.Errorf("the later wish: %q", got)
	}
	s.EndLease(shop("v1"))
	if got := order(s.Ask("", ask("h1", "v1"))); got != "" {
		t.Errorf("both wishes are fulfilled: %q", got)
	}
}

// TestMissed holds that a version that is wanted and not to be had is told, once each ask
// and only where no process of it can be recorded.
func TestMissed(t *testing.T) {
	s := staged(Options{Every: time.Hour, Most: 1})
	a := ask("h1", "v1", "v1", "v2", "v3")
	a.Programs[0].Not, a.Programs[2].Not, a.Programs[3].Not = "program", "program", "host"
	s.keep(shop("v3"), 0, "") // nobody wants it
	a.Programs = append(a.Programs, api.Program{Service: "shop", Version: "v4", Instance: "h1", Not: api.Pause})
	got := s.Ask("", a)
	if order(got) != "shop v1 h1: no recording yet" || len(got.Missed) != 1 || got.Missed[0] != (api.Missed{Service: "shop", Version: "v2", Not: "program"}) {
		t.Errorf("Ask() = %q, missed %+v, want shop v1 h1: no recording yet, missed shop v2 by program alone",
			order(got), got.Missed)
	}
	if w, ok := s.Wish(shop("v2")); !ok || !w.Agents || w.Not != "program" {
		t.Errorf("Wish(shop v2) has agents %v, not %q, %v, want true, program, true", w.Agents, w.Not, ok)
	}
	if w, ok := s.Wish(shop("")); !ok || !w.Agents || w.Not != "" {
		t.Errorf("Wish(shop) of any version has agents %v, not %q, %v, want true, none, true", w.Agents, w.Not, ok)
	}
	if w, ok := s.Wish(Subject{Service: "cart"}); !ok || w.Agents {
		t.Errorf("Wish(cart), which no agent sees, has agents %v, %v, want false, true", w.Agents, ok)
	}
	if got := fmt.Sprint(s.Services(""), s.Services("b")); got != "[shop] []" {
		t.Errorf("services %s", got)
	}
	s.later(present)
	if w, _ := s.Wish(shop("v2")); w.Agents {
		t.Errorf("Wish(shop v2) has agents %v, want false: its agent is away", w.Agents)
	}
	if got := s.Services(""); len(got) > 0 {
		t.Errorf("services of an agent that is away: %v", got)
	}
}

// TestBounds holds that what requests name is bounded.
func TestBounds(t *testing.T) {
	s := staged(Options{Every: time.Hour, Most: 1 << 30})
	for i := range mostWishes + 1 {
		_, ok := s.Wish(Subject{Tenant: "a", Service: fmt.Sprint(i)})
		if ok != (i < mostWishes) {
			t.Fatalf("wish %d: %v", i, ok)
		}
	}
	if _, ok := s.Wish(Subject{Tenant: "b", Service: "shop"}); !ok {
		t.Error("another tenant has no room")
	}
	for i := range mostKnown + 10 {
		s.Ask("", ask("h", fmt.Sprint(i)))
	}
	if len(s.seen) > mostKnown || len(s.lapsed) > mostKnown {
		t.Errorf("%d seen, %d lapsed", len(s.seen), len(s.lapsed))
	}
	s.later(100 * transfer)
	s.Counts()
	if len(s.seen)+len(s.lapsed)+len(s.asked)+len(s.leases)+len(s.wishes) > 0 {
		t.Error("it remembers what is long gone")
	}
	if got := s.Tenants(); len(got) > 0 {
		t.Errorf("tenants %v", got)
	}
}
