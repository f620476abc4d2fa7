// Cborsamples sends what the meters of houses measured to a collector: messages of CBOR with
// a length before each, on a connection.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"

	"github.com/fxamacker/cbor/v2"
)

// A sample is what a meter measured.
type sample struct {
	_     struct{} `cbor:",toarray"`
	At    int64
	Watts float64
	Volts float32
}

// A report is the samples of a house.
type report struct {
	House   uint32   `cbor:"1,keyasint"`
	Samples []sample `cbor:"2,keyasint"`
}

// A sender encodes reports into a buffer that it keeps.
type sender struct {
	mode cbor.UserBufferEncMode
	buf  bytes.Buffer
	out  *bufio.Writer
}

func newSender(w io.Writer) (*sender, error) {
	opts := cbor.CoreDetEncOptions()
	mode, err := opts.UserBufferEncMode()
	return &sender{mode: mode, out: bufio.NewWriterSize(w, 32<<10)}, err
}

func (s *sender) send(r *report) error {
	s.buf.Reset()
	if err := s.mode.MarshalToBuffer(r, &s.buf); err != nil {
		return err
	}
	if _, err := s.out.Write(binary.BigEndian.AppendUint32(s.out.AvailableBuffer(), uint32(s.buf.Len()))); err != nil {
		return err
	}
	_, err := s.out.Write(s.buf.Bytes())
	return err
}

// sums are what a collector knows of a house.
type sums struct {
	samples int
	watts   float64
}

// collect adds up reports until there are no more.
func collect(r io.Reader, mode cbor.DecMode) (map[uint32]sums, error) {
	in, houses := bufio.NewReaderSize(r, 32<<10), make(map[uint32]sums, houseCount)
	body := make([]byte, 0, 4<<10)
	rep := report{Samples: make([]sample, 0, samplesEach)}
	for {
		head, err := in.Peek(4)
		if err == io.EOF {
			return houses, nil
		}
		if err != nil {
			return nil, err
		}
		size := int(binary.BigEndian.Uint32(head))
		if size > cap(body) {
			return nil, fmt.Errorf("a report of %d bytes", size)
		}
		if _, err := in.Discard(4); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(in, body[:size]); err != nil {
			return nil, err
		}
		rep.Samples = rep.Samples[:0]
		if err := mode.Unmarshal(body[:size], &rep); err != nil {
			return nil, err
		}
		h := houses[rep.House]
		for i := range rep.Samples {
			h.watts += rep.Samples[i].Watts
		}
		h.samples += len(rep.Samples)
		houses[rep.House] = h
	}
}

const houseCount, samplesEach = 2000, 60

func main() {
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mode, err := cbor.DecOptions{}.DecMode()
	if err != nil {
		log.Fatal(err)
	}
	collected := make(chan map[uint32]sums, 1)
	go func() {
		defer close(collected)
		c, err := l.Accept()
		if err != nil {
			log.Print(err)
			return
		}
		defer c.Close()
		houses, err := collect(c, mode)
		if err != nil {
			log.Print(err)
			return
		}
		collected <- houses
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	s, err := newSender(c)
	if err != nil {
		log.Fatal(err)
	}
	rep := report{Samples: make([]sample, samplesEach)}
	pace(1, func(_ context.Context, _, n int) error {
		rep.House = uint32(n % houseCount)
		for i := range rep.Samples {
			rep.Samples[i] = sample{At: int64(n*samplesEach + i), Watts: float64(n*i%3000) + 0.25, Volts: 230.5}
		}
		return s.send(&rep)
	})
	if err := s.out.Flush(); err != nil {
		log.Print(err)
	}
	c.Close()
	fmt.Println("houses:", len(<-collected))
}
