package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// The demo zones have every type of record and every way to choose; queries.txt
// asks for what is in them. All addresses are from the networks that are kept
// for documentation, and all places are made up of those.

// demoZones is how many zones there are with the same names in them.
const demoZones = 40

// loadDemo writes the demo zones. The backend is who says that an address is well.
func loadDemo(ctx context.Context, s *store, backend uint16) error {
	zones := map[string]demoZone{
		"example.test.":         exampleZone(backend),
		"flat.test.":            flatZone(),
		"2.0.192.in-addr.arpa.": reverseZone(),
		reverse6:                reverse6Zone(),
	}
	for i := range demoZones {
		name := fmt.Sprintf("zone%02d.test.", i)
		zones[name] = plainZone(name)
	}
	for name, z := range zones {
		z.config.SOA = "3600 IN SOA ns1." + name + " hostmaster." + name + " 2026112101 7200 3600 1209600 300"
		config, err := json.Marshal(z.config)
		if err != nil {
			return err
		}
		nodes := map[string][]byte{}
		for rel, n := range z.nodes {
			n.TTL = cmp.Or(n.TTL, 300)
			if nodes[rel], err = json.Marshal(n); err != nil {
				return err
			}
		}
		if err := s.write(ctx, name, config, nodes); err != nil {
			return err
		}
	}
	return nil
}

type demoZone struct {
	config zoneConfig
	nodes  map[string]nodeRecord
}

func ips(all ...string) *addressRecord {
	r := &addressRecord{}
	for _, ip := range all {
		r.List = append(r.List, place{IP: ip})
	}
	return r
}

// apex returns what the zone's own name has, and its name servers.
func apex(name string) map[string]nodeRecord {
	return map[string]nodeRecord{
		"@": {TTL: 3600, A: ips("192.0.2.1"), AAAA: ips("2001:db8::1"), Records: []string{
			"NS ns1." + name, "NS ns2." + name, "MX 10 mail." + name, "MX 20 mail2." + name, `CAA 0 issue "ca.example.test"`, `TXT "v=spf1 mx -all"`,
		}},
		"ns1":  {A: ips("192.0.2.53"), AAAA: ips("2001:db8::53")},
		"ns2":  {A: ips("198.51.100.53")},
		"mail": {A: ips("192.0.2.25")},
	}
}

func weighted() *addressRecord {
	return &addressRecord{Choose: "weighted", List: []place{{IP: "192.0.2.10", Weight: 6}, {IP: "198.51.100.10", Weight: 3}, {IP: "203.0.113.10", Weight: 1}}}
}

func byCountry() *addressRecord {
	return &addressRecord{Choose: "weighted", Filter: []string{"country"}, List: []place{
		{IP: "192.0.2.20", Country: []string{"DE", "FR"}}, {IP: "198.51.100.20", Country: []string{"US"}},
		{IP: "203.0.113.20", Country: []string{"JP"}}, {IP: "192.0.2.99"},
	}}
}

// plainZone has what the load asks for.
func plainZone(name string) demoZone {
	nodes := apex(name)
	nodes["www"] = nodeRecord{A: weighted(), AAAA: ips("2001:db8:1::10", "2001:db8:2::10")}
	nodes["api"] = nodeRecord{A: weighted()}
	nodes["cdn"] = nodeRecord{A: byCountry()}
	nodes["pool"] = nodeRecord{A: &addressRecord{Choose: "rotate", List: ips("192.0.2.31", "192.0.2.32", "192.0.2.33").List}}
	nodes["blog"] = nodeRecord{CNAME: "www." + name}
	nodes["_sip._udp"] = nodeRecord{Records: []string{"SRV 10 60 5060 www." + name}}
	return demoZone{nodes: nodes}
}

// exampleZone has everything once.
func exampleZone(backend uint16) demoZone {
	const name = "example.test."
	nodes := apex(name)
	for rel, n := range map[string]nodeRecord{
		"www":           {A: weighted(), AAAA: ips("2001:db8:1::10")},
		"country":       {A: byCountry()},
		"asn":           {A: &addressRecord{Filter: []string{"asn"}, List: []place{{IP: "192.0.2.40", ASN: []uint32{64500}}, {IP: "198.51.100.40", ASN: []uint32{64501}}, {IP: "203.0.113.40"}}}},
		"near":          {A: &addressRecord{Filter: []string{"location"}, List: []place{{IP: "192.0.2.50", At: &[2]float64{48.1, 11.6}}, {IP: "198.51.100.50", At: &[2]float64{40.7, -74.0}}, {IP: "203.0.113.50", At: &[2]float64{35.7, 139.7}}}}},
		"rotate":        {A: &addressRecord{Choose: "rotate", List: ips("192.0.2.61", "192.0.2.62", "192.0.2.63").List}},
		"service":       {A: &addressRecord{Health: &checkRecord{Protocol: "http", Port: backend, Path: "/health"}, List: ips("127.0.0.1", "127.0.0.2").List}},
		"port":          {A: &addressRecord{Health: &checkRecord{Protocol: "tcp", Port: backend}, List: ips("127.0.0.1", "127.0.0.2").List}},
		"alias":         {CNAME: "www." + name},
		"out":           {CNAME: "www.elsewhere.test."},
		"loop":          {CNAME: "loop2." + name},
		"loop2":         {CNAME: "loop." + name},
		"into":          {CNAME: "x.sub." + name},
		"old":           {Records: []string{"DNAME " + name, `TXT "moved"`}},
		"far":           {Records: []string{"DNAME " + strings.Repeat(strings.Repeat("x", 63)+".", 3) + name}},
		"spin":          {Records: []string{"DNAME y.spin." + name}},
		"taken":         {CNAME: "aname." + name},
		"aname":         {ANAME: "origin." + demoUpstreamZone},
		"gone":          {ANAME: "missing." + demoUpstreamZone},
		"txt":           {Records: []string{`TXT "first" "second"`, `TXT "another"`}},
		"large":         {Records: largeTXT()},
		"huge":          {A: hugeSet()},
		"_sip._udp":     {Records: []string{"SRV 10 60 5060 www." + name}},
		"_443._tcp.www": {Records: []string{"TLSA 3 1 1 0000000000000000000000000000000000000000000000000000000000000001"}},
		"sub":           {Records: []string{"NS ns.sub." + name, "NS ns.elsewhere.test.", "DS 12345 13 2 0000000000000000000000000000000000000000000000000000000000000002"}},
		"ns.sub":        {A: ips("192.0.2.153")},
		"*.wild":        {A: ips("192.0.2.70")},
		"a.b.c":         {A: ips("192.0.2.71")},
	} {
		nodes[rel] = n
	}
	return demoZone{config: zoneConfig{Cuts: []string{"sub"}, DNAMEs: []string{"old", "far", "spin"}}, nodes: nodes}
}

// largeTXT is more than fits into 512 bytes, and less than 1232; hugeSet is
// more than fits into any packet that is sent.
func largeTXT() (rrs []string) {
	for i := range 8 {
		rrs = append(rrs, fmt.Sprintf(`TXT "%02d %080d"`, i, i))
	}
	return rrs
}

func hugeSet() *addressRecord {
	r := &addressRecord{}
	for i := range 120 {
		r.List = append(r.List, place{IP: fmt.Sprintf("198.51.100.%d", i+1)})
	}
	return r
}

// flatZone answers with addresses where others answer with CNAMEs.
func flatZone() demoZone {
	nodes := apex("flat.test.")
	nodes["www"] = nodeRecord{CNAME: "www.example.test."}
	nodes["chain"] = nodeRecord{CNAME: "www.flat.test."}
	nodes["out"] = nodeRecord{CNAME: "cdn." + demoUpstreamZone}
	nodes["moved"] = nodeRecord{CNAME: "www.old.example.test."}
	nodes["place"] = nodeRecord{CNAME: "country.example.test."}
	return demoZone{config: zoneConfig{Flatten: true}, nodes: nodes}
}

func reverseZone() demoZone {
	nodes := map[string]nodeRecord{"@": {Records: []string{"NS ns1.example.test."}}}
	for i := range 32 {
		nodes[fmt.Sprint(i+1)] = nodeRecord{Records: []string{fmt.Sprintf("PTR host%d.example.test.", i+1)}}
	}
	return demoZone{nodes: nodes}
}

// reverse6 is where the names of IPv6 addresses are: 34 labels each.
const reverse6 = "8.b.d.0.1.0.0.2.ip6.arpa."

func reverse6Zone() demoZone {
	nodes := map[string]nodeRecord{"@": {Records: []string{"NS ns1.example.test."}}}
	for i := range 64 {
		rel := fmt.Sprintf("%x.%x%s", i%16, i/16, strings.Repeat(".0", 22))
		nodes[rel] = nodeRecord{Records: []string{fmt.Sprintf("PTR host%d.example.test.", i)}}
	}
	return demoZone{nodes: nodes}
}

// startDemoBackend listens where health checks ask: on 127.0.0.1 and nowhere
// else, so that of two addresses one is well.
func startDemoBackend() (port uint16, stop func() error, err error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, nil, err
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			http.NotFound(w, r)
		}
	})}
	go web.Serve(l)
	return l.Addr().(*net.TCPAddr).AddrPort().Port(), web.Close, nil
}

// A demoPlace is where the clients of some networks are.
type demoPlace struct {
	country, continent, city string
	asn                      uint32
	at                       point
	networks                 []string
}

var demoPlaces = []demoPlace{
	{"DE", "EU", "Munich", 64500, point{48.1, 11.6}, []string{"127.0.0.0/16", "192.0.2.0/24", "2001:db8:1::/48"}},
	{"US", "NA", "New York", 64501, point{40.7, -74.0}, []string{"127.1.0.0/16", "198.51.100.0/24", "2001:db8:2::/48"}},
	{"JP", "AS", "Tokyo", 64502, point{35.7, 139.7}, []string{"127.2.0.0/16", "203.0.113.0/24", "2001:db8:3::/48"}},
}

// writeDemoGeo generates a geographic database with records as large as those
// of a real one, which has names in eight languages.
func writeDemoGeo(dir string) (path string, err error) {
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "zonedns-City", RecordSize: 24, IncludeReservedNetworks: true, DisableIPv4Aliasing: true})
	if err != nil {
		return "", err
	}
	for i, p := range demoPlaces {
		for _, text := range p.networks {
			_, network, err := net.ParseCIDR(text)
			if err != nil {
				return "", err
			}
			if err := tree.Insert(network, p.record(uint32(i))); err != nil {
				return "", err
			}
		}
	}
	path = filepath.Join(dir, "places.mmdb")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = tree.WriteTo(f)
	return path, cmp.Or(err, f.Close())
}

func (p demoPlace) record(id uint32) mmdbtype.Map {
	named := func(offset uint32, name string) mmdbtype.Map {
		names := mmdbtype.Map{}
		for language := range slices.Values([]string{"de", "en", "es", "fr", "ja", "pt-BR", "ru", "zh-CN"}) {
			names[mmdbtype.String(language)] = mmdbtype.String(name + " (" + language + ")")
		}
		return mmdbtype.Map{"geoname_id": mmdbtype.Uint32(offset + id), "names": names}
	}
	coded := func(m mmdbtype.Map, key mmdbtype.String, code string) mmdbtype.Map {
		m[key] = mmdbtype.String(code)
		return m
	}
	return mmdbtype.Map{
		"continent":                      coded(named(1000, p.continent), "code", p.continent),
		"country":                        coded(named(2000, p.country), "iso_code", p.country),
		"registered_country":             coded(named(2000, p.country), "iso_code", p.country),
		"subdivisions":                   mmdbtype.Slice{coded(named(3000, p.city), "iso_code", "XX")},
		"city":                           named(4000, p.city),
		"location":                       mmdbtype.Map{"latitude": mmdbtype.Float64(p.at.lat), "longitude": mmdbtype.Float64(p.at.lon), "time_zone": mmdbtype.String("Etc/UTC")},
		"autonomous_system_number":       mmdbtype.Uint32(p.asn),
		"autonomous_system_organization": mmdbtype.String("Documentation " + p.country),
	}
}
