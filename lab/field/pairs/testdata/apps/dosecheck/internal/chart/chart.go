// Package chart loads patient charts.
package chart

import (
	"encoding/json"
	"math/rand/v2"
)

type Lab struct {
	Code  string  `json:"c"`
	Value float64 `json:"v"`
	Day   int     `json:"d"`
}

type Chart struct {
	Patient int      `json:"p"`
	Kg      float64  `json:"kg"`
	Drugs   []string `json:"drugs"`
	Labs    []Lab    `json:"labs"`
}

// Archive answers with encoded charts, like the hospital's record system.
type Archive struct{ docs [][]byte }

var codes = []string{"CREA", "K", "NA", "HB", "INR", "ALT", "AST", "CRP", "GLU", "TSH"}
var drugs = []string{"warfarin", "amiodarone", "metformin", "ibuprofen", "digoxin", "ramipril", "simvastatin", "heparin"}

func NewArchive(n int) *Archive {
	r := rand.New(rand.NewPCG(3, 1))
	a := &Archive{}
	for p := 0; p < n; p++ {
		c := Chart{Patient: p, Kg: 45 + r.Float64()*60}
		for range 2 + r.IntN(4) {
			c.Drugs = append(c.Drugs, drugs[r.IntN(len(drugs))])
		}
		for k := range 90 {
			c.Labs = append(c.Labs, Lab{codes[r.IntN(len(codes))], r.Float64() * 10, k / 10})
		}
		doc, _ := json.Marshal(c)
		a.docs = append(a.docs, doc)
	}
	return a
}

func (a *Archive) Load(patient int) (*Chart, error) {
	c := new(Chart)
	return c, json.Unmarshal(a.docs[patient%len(a.docs)], c)
}
