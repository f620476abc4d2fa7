package fact

import "github.com/gowhy/gowhy/internal/know/model"

// What a printed profile says of a function. Sums of two functions may be of the same
// samples, so there is no constructor for several.

// PrintedTotal returns all that the profile of a table counted.
func PrintedTotal(name string, t *model.Table) Fact {
	return tableFact(name, t, t.Total, Origin{Columns: []string{"total"}})
}

// PrintedUnder adds up what was counted in a function and in what it calls.
func PrintedUnder(name string, t *model.Table, f *model.TableFunction) Fact {
	return tableFact(name, t, f.Cum, Origin{Columns: []string{"cum"}, Functions: []string{f.Func}})
}

// PrintedShare returns the part of the total that was counted in a function and in what it calls.
func PrintedShare(name string, t *model.Table, f *model.TableFunction) Fact {
	o := Origin{Columns: []string{"cum"}, Functions: []string{f.Func}, Share: true}
	o.Kind, o.Source, o.Name = Printed, model.Printed, t.File
	return fact(name, t.Share(f.Cum), Ratio, o)
}

func tableFact(name string, t *model.Table, v float64, o Origin) Fact {
	o.Kind, o.Source, o.Name = Printed, model.Printed, t.File
	switch t.Type.Unit {
	case "nanoseconds":
		return fact(name, v/1e9, Seconds, o)
	case "bytes":
		return fact(name, v, Bytes, o)
	}
	return fact(name, v, Count, o)
}
