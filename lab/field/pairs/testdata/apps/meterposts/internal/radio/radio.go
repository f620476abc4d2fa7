// Package radio asks meters for their telegrams.
package radio

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// Head is a radio head that hears a few hundred meters.
type Head struct {
	id    uint32
	delay time.Duration
	r     *rand.Rand
	block cipher.Block
}

func NewHead(id uint32, delay time.Duration) *Head {
	block, err := aes.NewCipher(Key(id))
	if err != nil {
		panic(err)
	}
	return &Head{id: id, delay: delay, r: rand.New(rand.NewPCG(uint64(id), 2)), block: block}
}

func (h *Head) ID() uint32 { return h.id }

// Key is the key of the meters behind a head.
func Key(id uint32) []byte {
	k := make([]byte, 16)
	binary.LittleEndian.PutUint32(k, id*2654435761)
	return k
}

// Telegram waits for the next one: a meter number and a load profile,
// encrypted.
func (h *Head) Telegram() []byte {
	time.Sleep(h.delay + time.Duration(h.r.Int64N(int64(h.delay/3))))
	t := make([]byte, 16+8+4*96)
	plain := t[16:]
	binary.LittleEndian.PutUint32(plain, h.id<<10|h.r.Uint32N(300))
	total := uint32(0)
	for i := range 96 {
		v := h.r.Uint32N(900)
		total += v
		binary.LittleEndian.PutUint32(plain[8+4*i:], v)
	}
	binary.LittleEndian.PutUint32(plain[4:], total)
	binary.LittleEndian.PutUint64(t, h.r.Uint64())
	cipher.NewCTR(h.block, t[:16]).XORKeyStream(plain, plain)
	return t
}
