package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

// Types of old RFCs that other servers still read in master files and the library does
// not know: WKS (RFC 1035 section 3.4.2) and NSAP (RFC 1706); and those that it reads without
// quotes only, which NSD writes: X25 (RFC 1183) and GPOS (RFC 1712). They are served as any
// unknown type is.
var oldTypes = sync.OnceFunc(func() {
	dns.PrivateHandle("WKS", 11, func() dns.PrivateRdata { return &oldData{read: readWKS} })
	dns.PrivateHandle("NSAP", 22, func() dns.PrivateRdata { return &oldData{read: readNSAP} })
	dns.PrivateHandle("X25", dns.TypeX25, func() dns.PrivateRdata { return &oldData{read: readTexts(1)} })
	dns.PrivateHandle("GPOS", dns.TypeGPOS, func() dns.PrivateRdata { return &oldData{read: readTexts(3)} })
})

// oldData is the wire format of such a record's data.
type oldData struct {
	read func(words []string) ([]byte, error)
	wire []byte
}

// String implements [dns.PrivateRdata], by RFC 3597 section 5.
func (d *oldData) String() string { return fmt.Sprintf(`\# %d %x`, len(d.wire), d.wire) }

// Parse implements [dns.PrivateRdata].
func (d *oldData) Parse(words []string) (err error) {
	d.wire, err = d.read(words)
	return err
}

// Pack implements [dns.PrivateRdata].
func (d *oldData) Pack(to []byte) (int, error) {
	if len(to) < len(d.wire) {
		return 0, dns.ErrBuf
	}
	return copy(to, d.wire), nil
}

// Unpack implements [dns.PrivateRdata].
func (d *oldData) Unpack(from []byte) (int, error) {
	d.wire = append([]byte(nil), from...)
	return len(from), nil
}

// Copy implements [dns.PrivateRdata].
func (d *oldData) Copy(to dns.PrivateRdata) error {
	other, ok := to.(*oldData)
	if !ok {
		return errors.New("a record of another type")
	}
	other.wire = append([]byte(nil), d.wire...)
	return nil
}

// Len implements [dns.PrivateRdata].
func (d *oldData) Len() int { return len(d.wire) }

// readNSAP reads an address like 0x47.0005.80.
func readNSAP(words []string) ([]byte, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(strings.Join(words, "")), "0x")
	if !ok {
		return nil, errors.New("an NSAP address begins with 0x")
	}
	return hex.DecodeString(strings.ReplaceAll(digits, ".", ""))
}

// readWKS reads an address, a protocol, and services by number or name: a bit for each.
func readWKS(words []string) ([]byte, error) {
	if len(words) < 2 {
		return nil, errors.New("want an address, a protocol and services")
	}
	address, err := netip.ParseAddr(words[0])
	if err != nil || !address.Is4() {
		return nil, fmt.Errorf("%q is no IPv4 address", words[0])
	}
	protocol := strings.ToLower(words[1])
	number, known := map[string]uint64{"tcp": 6, "udp": 17}[protocol]
	if !known {
		if number, err = strconv.ParseUint(protocol, 10, 8); err != nil {
			return nil, fmt.Errorf("%q is no protocol", protocol)
		}
	}
	wire := append(address.AsSlice(), byte(number))
	var bits []byte
	for _, service := range words[2:] {
		port, err := strconv.ParseUint(service, 10, 16)
		if err != nil {
			named, err := net.LookupPort(protocol, strings.ToLower(service))
			if err != nil {
				return nil, fmt.Errorf("%q is no service", service)
			}
			port = uint64(named)
		}
		for int(port/8) >= len(bits) {
			bits = append(bits, 0)
		}
		bits[port/8] |= 0x80 >> (port % 8)
	}
	return append(wire, bits...), nil
}

// readTexts reads so many character-strings of digits, in quotes or not.
func readTexts(n int) func(words []string) ([]byte, error) {
	return func(words []string) (wire []byte, err error) {
		words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == `"` })
		if len(words) != n {
			return nil, fmt.Errorf("want %d of digits, there are %d", n, len(words))
		}
		for _, word := range words {
			if len(word) > 255 || strings.Trim(word, "+-.0123456789") != "" {
				return nil, fmt.Errorf("%q is not of digits", word)
			}
			wire = append(append(wire, byte(len(word))), word...)
		}
		return wire, nil
	}
}
