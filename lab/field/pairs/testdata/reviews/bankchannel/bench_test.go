package bank

import (
	"errors"
	"flag"
	"sync/atomic"
	"testing"
)

var token = flag.Bool("token", false, "lock by a token")

func BenchmarkMove(b *testing.B) {
	lock := NewMutex()
	if *token {
		lock = NewToken()
	}
	bank := New(1000, lock)
	var clerks atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		clerk := int(clerks.Add(1))
		for i := clerk * 31; pb.Next(); i++ {
			if err := bank.Move(i%1000, (i*7+clerk)%1000, i%5); err != nil && !errors.Is(err, ErrPoor) {
				b.Error(err)
			}
		}
	})
	if bank.Total() != 100000 {
		b.Error("money was lost")
	}
}
