package fact

import "github.com/gowhy/gowhy/internal/know/model"

// Held returns a number of a holder at the last look at the heap: bytes, objects, or grew, which is
// since the look before.
func (p Meter) Held(name, column string, h *model.Holder) Fact {
	return p.counted(name, Origin{Kind: Held, Source: model.Holders, Name: h.Name, Names: []string{h.Kind}, Columns: []string{column}})
}

// HeldStep returns a number of what is held at a step of the way: bytes, objects, or use, the share
// of them that is in use.
func (p Meter) HeldStep(name, column string, h *model.Holder, s *model.HolderStep) Fact {
	return p.counted(name, Origin{Kind: Held, Source: model.Holders, Name: h.Name, Names: []string{h.Kind, s.Field, s.Type}, Columns: []string{column}})
}

// Look returns a number of the last look at the heap: reached, in bytes, over, the seconds since the look before, or
// free, free_objects and free_size of the size of objects between which most is free.
func (p Meter) Look(name, column string) Fact {
	return p.counted(name, Origin{Kind: Held, Source: model.Holders, Columns: []string{column}})
}

// FirstLook returns the same of the first look.
func (p Meter) FirstLook(name, column string) Fact {
	return p.counted(name, Origin{Kind: Held, Source: model.Holders, Columns: []string{column}, Fold: First})
}

// heldRows returns what an origin counts of a look; none where the look does not have it.
func (o *Origin) heldRows(m *model.Model) []Row {
	looks := m.Run.Holders
	if len(looks) == 0 {
		return nil
	}
	look := looks[len(looks)-1]
	if o.Fold == First {
		look = looks[0]
	}
	if len(o.Names) == 0 {
		return lookRow(look, o.Columns[0])
	}
	for i := range look.Holders {
		if h := &look.Holders[i]; h.Kind == o.Names[0] && h.Name == o.Name {
			return holderRow(h, o)
		}
	}
	return nil
}

func lookRow(l *model.HeapLook, column string) []Row {
	switch column {
	case "over":
		return []Row{{"time between the looks", l.Over.Seconds(), Seconds}}
	case "free", "free_objects", "free_size":
		if len(l.Free) == 0 {
			return nil
		}
		f := l.Free[0]
		return []Row{map[string]Row{
			"free": {"free between objects of a size", float64(f.Free), Bytes}, "free_objects": {"objects of that size", float64(f.Objects), Count}, "free_size": {"size of these objects", float64(f.Size), Bytes},
		}[column]}
	}
	return []Row{{"what is reached", float64(l.Reached.Bytes), Bytes}}
}

// holderRow returns the number of a holder, or of one of its steps.
func holderRow(h *model.Holder, o *Origin) []Row {
	what, sum := h.Name, h.ObjectSum
	if len(o.Names) > 1 {
		s := h.Step(o.Names[1], o.Names[2])
		if s == nil {
			return nil
		}
		if o.Columns[0] == "use" {
			return useRow(s)
		}
		what, sum = s.Type, s.ObjectSum
	}
	switch o.Columns[0] {
	case "objects":
		return []Row{{what + ": objects", float64(sum.Objects), Count}}
	case "grew":
		return []Row{{what + ": grew", float64(h.Growth()), Bytes}}
	}
	return []Row{{what + ": bytes", float64(sum.Bytes), Bytes}}
}

func useRow(s *model.HolderStep) []Row {
	if s.Use == nil {
		return nil
	}
	return []Row{{s.Type + ": in use", *s.Use, Ratio}}
}
