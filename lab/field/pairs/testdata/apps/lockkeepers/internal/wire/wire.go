// Package wire has the frames between the keepers' relay and the depot.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// Append encodes a numbered message.
func Append(b []byte, number uint64, body []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, number)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// Read decodes a message.
func Read(r *bufio.Reader) (number uint64, body []byte, err error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[8:])
	if n > 1<<20 {
		return 0, nil, errors.New("wire: message too long")
	}
	body = make([]byte, n)
	_, err = io.ReadFull(r, body)
	return binary.BigEndian.Uint64(head[:]), body, err
}
