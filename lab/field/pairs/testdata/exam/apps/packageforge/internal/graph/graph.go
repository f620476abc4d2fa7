// Package graph says which packages there are and what each needs.
package graph

import "fmt"

// A Package is built from its sources and what it needs.
type Package struct {
	Name  string
	Needs []string
	Size  int // of its sources, in bytes
}

// A Distribution is packages in an order in which they can be built.
type Distribution struct {
	Packages []*Package
	users    map[string][]*Package
}

// New makes a distribution of packages.
func New(packages []*Package) *Distribution {
	d := &Distribution{Packages: packages, users: make(map[string][]*Package, len(packages))}
	for _, p := range packages {
		for _, n := range p.Needs {
			d.users[n] = append(d.users[n], p)
		}
	}
	return d
}

// Users returns the packages that need one.
func (d *Distribution) Users(name string) []*Package { return d.users[name] }

// Layered makes a distribution in layers: a package needs two of the layer below.
func Layered(layers, width int) *Distribution {
	packages := make([]*Package, 0, layers*width)
	for l := range layers {
		for i := range width {
			p := &Package{Name: name(l, i), Size: 24<<10 + (l*31+i*17)%16<<10}
			if l > 0 {
				p.Needs = []string{name(l-1, i), name(l-1, (i+1)%width)}
			}
			packages = append(packages, p)
		}
	}
	return New(packages)
}

func name(layer, i int) string { return fmt.Sprintf("lib%03d-%c", layer, 'a'+i) }
