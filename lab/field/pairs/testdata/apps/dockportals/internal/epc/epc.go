// Package epc has the electronic product codes of pallets (SSCC-96).
package epc

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrForeign is returned for codes that are no SSCC.
var ErrForeign = errors.New("epc: not an SSCC")

// Hex is a code as the readers' vendor prints it.
type Hex string

// FromBytes returns the code of a tag's memory.
func FromBytes(p []byte) Hex { return Hex(strings.ToUpper(hex.EncodeToString(p))) }

// URN returns the code as a tag URN, urn:epc:id:sscc:company.serial.
func (h Hex) URN() (string, error) {
	p, err := hex.DecodeString(string(h))
	if err != nil {
		return "", err
	}
	c, err := Parse(p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("urn:epc:id:sscc:%07d.%010d", c.Company, c.Serial), nil
}

// Split returns company and serial number of a URN.
func Split(urn string) (company, serial string, err error) {
	parts := strings.Split(urn, ":")
	if len(parts) != 5 || parts[3] != "sscc" {
		return "", "", ErrForeign
	}
	company, serial, ok := strings.Cut(parts[4], ".")
	if !ok {
		return "", "", ErrForeign
	}
	return company, serial, nil
}

// Code is a decoded SSCC.
type Code struct {
	Company uint32
	Serial  uint64
}

// Parse decodes a tag's memory.
func Parse(p []byte) (Code, error) {
	if len(p) != 12 || p[0] != 0x31 || p[1]>>2&7 != 5 {
		return Code{}, ErrForeign
	}
	hi, lo := binary.BigEndian.Uint64(p), binary.BigEndian.Uint32(p[8:])
	return Code{Company: uint32(hi >> 26 & (1<<24 - 1)), Serial: hi&(1<<26-1)<<8 | uint64(lo>>24)}, nil
}

// Label returns the 18 digits that are printed on the pallet.
func Label(company string, serial string) string {
	digits := serial[:1] + company + serial[1:]
	sum := 0
	for i, d := range []byte(digits) {
		sum += int(d-'0') * (3 - i%2*2)
	}
	return digits + strconv.Itoa((10-sum%10)%10)
}

// Label returns the 18 digits that are printed on the pallet.
func (c Code) Label() string {
	return Label(fmt.Sprintf("%07d", c.Company), fmt.Sprintf("%010d", c.Serial))
}
