package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
)

// A source is a package with its types, without its tests.
type source struct {
	path  string // of import
	dir   string
	fset  *token.FileSet
	files []*ast.File
	bytes map[string][]byte // by base name
	pkg   *types.Package
	info  *types.Info
}

// load reads packages, those first that others import. The types of what they import are those
// that the compiler wrote down.
func load(ctx context.Context, paths []string) (list []*source, err error) {
	out, err := command(ctx, "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, paths...)...)
	if err != nil {
		return nil, err
	}
	fset, exports := token.NewFileSet(), map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var one struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := d.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[one.ImportPath] = one.Export
		if one.DepOnly {
			continue
		}
		p := &source{path: one.ImportPath, dir: one.Dir, fset: fset, bytes: map[string][]byte{}}
		list = append(list, p)
		for _, name := range one.GoFiles {
			file := filepath.Join(one.Dir, name)
			if p.bytes[name], err = os.ReadFile(file); err != nil {
				return nil, err
			}
			f, err := parser.ParseFile(p.fset, file, p.bytes[name], parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
	}
	for _, p := range list {
		if err := p.check(exports); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// check finds the types of a package by those of what it imports.
func (p *source) check(exports map[string]string) (err error) {
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	c := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	p.pkg, err = c.Check(p.path, p.fset, p.files, p.info)
	return err
}

// name returns the base name of the file that holds a node.
func (p *source) name(n ast.Node) string { return filepath.Base(p.fset.Position(n.Pos()).Filename) }

func (p *source) text(n ast.Node) string {
	return string(p.bytes[p.name(n)][p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset])
}
