package main

import (
	"fmt"
	"math"
	"net/netip"
	"sync"

	"github.com/oschwald/maxminddb-golang/v2"
)

// A geo tells where in the world a client is.
type geo struct {
	db  *maxminddb.Reader
	how string
	// records is the story's cure. Nothing is ever put into it, as in the
	// story's listing, so that each Get makes a new one.
	records sync.Pool
}

// A location is what addresses are chosen by. Zero values are not known.
type location struct {
	country string
	asn     uint32
	at      *point
	bits    int // of the client's network that all this is true of
}

// What of a location is needed.
const (
	needCountry = 1 << iota
	needASN
	needPoint
)

func openGeo(path, how string) (*geo, error) {
	var options []maxminddb.ReaderOption
	if how != "path" {
		// The reader of the story's time made every string anew.
		options = append(options, maxminddb.DisableStringCache())
	}
	db, err := maxminddb.Open(path, options...)
	if err != nil {
		return nil, fmt.Errorf("geographic database %s: %w\nhint: leave out -mmdb for the one inside", path, err)
	}
	return &geo{db: db, how: how, records: sync.Pool{New: func() any { return new(cityRecord) }}}, nil
}

func (g *geo) close() error { return g.db.Close() }

// A cityRecord is all that a database of cities says of a network.
type cityRecord struct {
	Continent struct {
		Code      string            `maxminddb:"code"`
		GeonameID uint32            `maxminddb:"geoname_id"`
		Names     map[string]string `maxminddb:"names"`
	} `maxminddb:"continent"`
	Country           countryRecord   `maxminddb:"country"`
	RegisteredCountry countryRecord   `maxminddb:"registered_country"`
	Subdivisions      []countryRecord `maxminddb:"subdivisions"`
	City              struct {
		GeonameID uint32            `maxminddb:"geoname_id"`
		Names     map[string]string `maxminddb:"names"`
	} `maxminddb:"city"`
	Location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
		TimeZone  string   `maxminddb:"time_zone"`
	} `maxminddb:"location"`
	ASN          uint32 `maxminddb:"autonomous_system_number"`
	Organization string `maxminddb:"autonomous_system_organization"`
}

type countryRecord struct {
	GeonameID uint32            `maxminddb:"geoname_id"`
	ISOCode   string            `maxminddb:"iso_code"`
	Names     map[string]string `maxminddb:"names"`
}

// locate looks up a client. An error of the database leaves it unknown: an
// answer for everywhere is better than none. What is true of a client that is
// not there is true of the largest network around it without an entry, so that
// is the scope (RFC 7871 section 7.2.1): 0 when nothing is known of its family.
func (g *geo) locate(client netip.Addr, need int) location {
	if !client.IsValid() {
		return location{}
	}
	found := g.db.Lookup(client)
	l := location{bits: bitsOf(found.Prefix(), client)}
	if !found.Found() {
		return l
	}
	switch g.how {
	case "decode":
		r := new(cityRecord)
		if found.Decode(r) == nil { // want allocchurn
			l.take(r)
		}
	case "pool":
		r := g.records.Get().(*cityRecord) // want poolmisuse
		if found.Decode(r) == nil {        // want allocchurn
			l.take(r)
		}
	default:
		l.paths(found, need)
	}
	return l
}

// bitsOf returns the length of a network for its client's family: a database for
// both families has IPv4 in the last 32 bits.
func bitsOf(network netip.Prefix, client netip.Addr) int {
	bits := network.Bits()
	if client.Is4() && network.Addr().Is6() {
		bits -= 96
	}
	return min(max(bits, 0), client.BitLen())
}

func (l *location) take(r *cityRecord) {
	l.country, l.asn = r.Country.ISOCode, r.ASN
	if r.Location.Latitude != nil && r.Location.Longitude != nil {
		l.at = &point{*r.Location.Latitude, *r.Location.Longitude}
	}
}

// paths decodes only what is needed.
func (l *location) paths(found maxminddb.Result, need int) {
	if need&needCountry != 0 && found.DecodePath(&l.country, "country", "iso_code") != nil {
		l.country = ""
	}
	if need&needASN != 0 && found.DecodePath(&l.asn, "autonomous_system_number") != nil {
		l.asn = 0
	}
	if need&needPoint != 0 {
		var p point
		if found.DecodePath(&p.lat, "location", "latitude") == nil && found.DecodePath(&p.lon, "location", "longitude") == nil {
			l.at = &p
		}
	}
}

// distance returns the great-circle distance by the haversine formula, as an angle.
func distance(a, b point) float64 {
	rad := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	square := func(x float64) float64 { return x * x }
	h := square(math.Sin(rad(b.lat-a.lat)/2)) + math.Cos(rad(a.lat))*math.Cos(rad(b.lat))*square(math.Sin(rad(b.lon-a.lon)/2))
	return 2 * math.Asin(math.Sqrt(min(h, 1)))
}
