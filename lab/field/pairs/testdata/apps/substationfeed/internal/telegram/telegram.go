// Package telegram reads what the gateways of the substations send.
package telegram

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Sample is one measured value.
type Sample struct {
	Tags  string
	Value float64
	At    int64
}

// Telegram is a packet of samples of one device.
type Telegram struct {
	Tags    string
	Samples []Sample
}

var (
	errShape = errors.New("telegram: malformed")
	errSum   = errors.New("telegram: wrong checksum")
)

// Decode reads "crc|tags|tags value time;..." into t, whose samples are reused.
func (t *Telegram) Decode(raw string) error {
	head, body, ok := strings.Cut(raw, "|")
	if !ok {
		return errShape
	}
	want, err := strconv.ParseUint(head, 16, 32)
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE([]byte(body)) != uint32(want) {
		return errSum
	}
	t.Samples = t.Samples[:0]
	if t.Tags, body, ok = strings.Cut(body, "|"); !ok {
		return errShape
	}
	for body != "" {
		var part string
		part, body, _ = strings.Cut(body, ";")
		tags, rest, _ := strings.Cut(part, " ")
		value, at, _ := strings.Cut(rest, " ")
		s := Sample{Tags: tags}
		if s.Value, err = strconv.ParseFloat(value, 64); err != nil {
			return err
		}
		if s.At, err = strconv.ParseInt(at, 10, 64); err != nil {
			return err
		}
		t.Samples = append(t.Samples, s)
	}
	return nil
}

// Generate makes telegrams of the given number of devices.
func Generate(devices, rounds int) []string {
	rng := rand.New(rand.NewPCG(17, 4))
	var out []string
	for n := range devices * rounds {
		d := n % devices
		var sb strings.Builder
		fmt.Fprintf(&sb, "region=%s,station=st%02d,bay=b%d,device=relay%d,feeder=f%d|", []string{"north", "south"}[d%2], d/12, d%12, d, d%5)
		for i, q := range []string{"voltage,unit=kV", "current,unit=A", "power,unit=MW", "reactive,unit=MVAr", "frequency,unit=Hz", "angle,unit=deg"} {
			for j, phase := range []string{"a", "b", "c"} {
				fmt.Fprintf(&sb, "quantity=%s,phase=%s %.6f %d;", q, phase, 100+rng.NormFloat64()*float64(5+i), 1749600000000+int64(n*100+j*20))
			}
		}
		body := strings.TrimSuffix(sb.String(), ";")
		out = append(out, fmt.Sprintf("%08x|%s", crc32.ChecksumIEEE([]byte(body)), body))
	}
	return out
}
