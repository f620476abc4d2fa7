package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/miekg/dns"
)

// zoneFileFor writes a master file of small.test.
func zoneFileFor(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "small.zone")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const smallZone = `$TTL 600
@	60 IN SOA ns h 1 2 3 4 30
	IN NS ns
ns	A 192.0.2.1
`

func TestZoneFile(t *testing.T) {
	path := zoneFileFor(t, smallZone+`
WWW 5	IN A 192.0.2.2
www	7 IN A 192.0.2.3
www	IN AAAA 2001:db8::1
	A 192.0.2.3 ; again
	TXT ( "one"
	      "t\119o" )
$ORIGIN deep.small.test.
a\046b	CNAME WWW.small.test.
c	TYPE65280 \# 2 abcd
d	A \# 4 c0000204
e	APL \# 0
$GENERATE 1-3 host$ 600 A 192.0.2.1$
`)
	for _, flags := range [][]string{nil, {"-redis", miniredis.RunT(t).Addr()}} {
		s := serveFor(t, append(flags, "-zonefile", "Small.test="+path)...)
		if n := len(s.zones.Load().byKey); n != 1 {
			t.Errorf("%d zones, want that of the file alone", n)
		}
		for _, tt := range []struct {
			name, qtype string
			want        []string
		}{
			{"small.test.", "SOA", []string{"small.test.\t60\tIN\tSOA\tns.small.test. h.small.test. 1 2 3 4 30"}},
			{"small.test.", "NS", []string{"small.test.\t600\tIN\tNS\tns.small.test."}},
			{"www.small.test.", "A", []string{"www.small.test.\t5\tIN\tA\t192.0.2.2", "www.small.test.\t5\tIN\tA\t192.0.2.3"}},
			{"www.small.test.", "AAAA", []string{"www.small.test.\t600\tIN\tAAAA\t2001:db8::1"}},
			{"www.small.test.", "TXT", []string{"www.small.test.\t600\tIN\tTXT\t\"one\" \"two\""}},
			{`a\.b.deep.small.test.`, "CNAME", []string{`a\.b.deep.small.test.` + "\t600\tIN\tCNAME\twww.small.test."}},
			{"c.deep.small.test.", "TYPE65280", []string{`c.deep.small.test.` + "\t600\tCLASS1\tTYPE65280\t\\# 2 abcd"}},
			{"d.deep.small.test.", "A", []string{"d.deep.small.test.\t600\tIN\tA\t192.0.2.4"}},
			{"e.deep.small.test.", "APL", []string{"e.deep.small.test.\t600\tIN\tAPL\t"}},
			{"host2.deep.small.test.", "A", []string{"host2.deep.small.test.\t600\tIN\tA\t192.0.2.12"}},
			{"host4.deep.small.test.", "A", nil},
		} {
			qtype, ok := dns.StringToType[tt.qtype]
			if !ok {
				qtype = 65280
			}
			var got []string
			for _, rr := range exchange(t, s, new(dns.Msg).SetQuestion(tt.name, qtype)).Answer {
				got = append(got, rr.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s %s: %q, want %q", tt.name, tt.qtype, got, tt.want)
			}
		}
	}
}

// TestZoneFileErrors: what is wrong is said with its line, and nothing is served.
func TestZoneFileErrors(t *testing.T) {
	many := func(n int, format string) (text string) {
		for i := range n {
			text += fmt.Sprintf(format+"\n", i/256, i%256)
		}
		return text
	}
	for text, want := range map[string]string{
		"":                             ": no SOA record of small.test.",
		"@ 60 IN SOA ns h 1 2 3 4 5\n": ": no NS record of small.test.",
		smallZone + "www A 1.2.3\n":    ":5: bad A A",
		smallZone + "www A 192.0.2.1\n\nx MX ten .":                                           ":7: bad MX Pref",
		smallZone + "www A\n":                                                                 ":5: A without data",
		smallZone + "$INCLUDE other.zone\n":                                                   ":5: $INCLUDE directive not allowed",
		smallZone + "www CH A 192.0.2.1\n":                                                    ":5: class CH",
		smallZone + "www.else.test. A 192.0.2.1\n":                                            ":5: www.else.test. is not in small.test.",
		smallZone + "@ SOA n h 1 2 3 4 5\n":                                                   ":5: a second SOA",
		smallZone + "x SOA n h 1 2 3 4 5\n":                                                   ":5: an SOA that is not at the zone's own name",
		smallZone + "x CNAME y\nx CNAME z\n":                                                  ":6: a second CNAME",
		smallZone + "x CNAME y\nx TXT (\n\"t\" )\n":                                           ":7: x.small.test. has a CNAME and other records",
		smallZone + "@ CNAME y\n":                                                             ":5: small.test. has a CNAME and other records",
		smallZone + "x DNAME y\nx DNAME z\n":                                                  ":6: a second DNAME",
		smallZone + "a.b.x A 192.0.2.1\nx DNAME y\n":                                          ":5: a.b.x.small.test. is below the DNAME of x.small.test.",
		smallZone + "x 2147483648 A 192.0.2.1\n":                                              ":5: a TTL of 2147483648, more than 2147483647",
		smallZone + "x NSEC y A\n":                                                            ":5: NSEC: signed zones are not served",
		smallZone + "x WKS 192.0.2.1 tcp nothing\n":                                           ":5: ",
		smallZone + "x NSAP 47\n":                                                             ":5: ",
		smallZone + "x ANY \\# 0\n":                                                           ":5: ",
		smallZone + strings.Repeat("x", 64) + " A 192.0.2.1\n":                                ":5: ",
		smallZone + many(maxAddresses+1, "x A 192.0.%d.%d"):                                   ":261: more than 256 addresses of one name",
		smallZone + many(maxRecords+1, "x MX %d mail%d"):                                      ":261: more than 256 records of one name",
		smallZone + many(200, "x TXT %d %d "+strings.Repeat(strings.Repeat("t", 250)+" ", 2)): ":204: x.small.test.: ",
	} {
		path := zoneFileFor(t, text)
		c, _, err := parse([]string{"-healthy", "-zonefile", "small.test=" + path})
		if err != nil {
			t.Fatal(err)
		}
		s, err := start(c)
		if err == nil {
			s.close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "-zonefile small.test.="+path+want) {
			t.Errorf("%.200s\n: error %v, want -zonefile small.test.=%s%s", text, err, path, want)
		}
	}
	for _, args := range [][]string{{"x"}, {"=x"}, {"x="}, {"a..b=x"}, {"a=x", "A.=y"}} {
		var z zoneFiles
		var err error
		for _, arg := range args {
			err = z.Set(arg)
		}
		if err == nil {
			t.Errorf("-zonefile %q is %v, want an error", args, z)
		}
	}
	if _, _, err := (zoneFile{"small.test.", "missing.zone"}).read(); err == nil || !strings.Contains(err.Error(), "missing.zone: no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestZoneFileBounds: a file that is too large is not read to its end.
func TestZoneFileBounds(t *testing.T) {
	for text, want := range map[string]string{
		smallZone + ";" + strings.Repeat("x", maxZoneBytes):                                         ":5: more than 67108864 bytes",
		smallZone + strings.Repeat("$GENERATE 0-65534 host$ A 192.0.2.1\n", maxZoneRecords/65535+1): fmt.Sprintf(":9: more than %d records", maxZoneRecords),
	} {
		path := zoneFileFor(t, text)
		if _, _, err := (zoneFile{"small.test.", path}).read(); err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%.100s: error %v, want %s", text, err, want)
		}
	}
}

// FuzzZoneFile: no file makes the reader fall over, and what it takes is a zone.
func FuzzZoneFile(f *testing.F) {
	peers, err := os.ReadFile(peersZone)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", smallZone, string(peers), smallZone + "x CNAME y\nd DNAME e\n$GENERATE 1-3 h$ A 192.0.2.$\nt TYPE1 \\# 4 c0000201\n"} {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "zone")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, nodes, err := zoneFile{"small.test.", path}.read()
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") {
				t.Fatalf("%v, want the file's name first", err)
			}
			return
		}
		if _, err := newZone("small.test.", config, nil); err != nil {
			t.Fatal(err)
		}
		for rel, node := range nodes {
			if _, err := newNode(owner("small.test.", rel), node, nil); err != nil || rel != strings.ToLower(rel) {
				t.Fatalf("%s: %s: %v", rel, node, err)
			}
		}
	})
}

// TestZoneFileTypes: a record of each type that NSD takes is taken and served as it is
// written, whatever the case of its hex; and so is each that the library knows, but for what
// signs zones and what is in messages only.
func TestZoneFileTypes(t *testing.T) {
	const file = "testdata/types.zone"
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s := serveFor(t, "-zonefile", "peers.test="+file)
	oldTypes()
	p, n := dns.NewZoneParser(&lineReader{Reader: bufio.NewReader(in)}, "peers.test.", ""), 0
	taken := map[uint16]bool{}
	for _, refused := range []uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeNXNAME, dns.TypeOPT, dns.TypeTSIG, dns.TypeTKEY, dns.TypeANY} {
		taken[refused] = true
	}
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		n++
		h := rr.Header()
		taken[h.Rrtype] = true
		answer := exchange(t, s, new(dns.Msg).SetQuestion(h.Name, h.Rrtype))
		if got := append(answer.Answer, answer.Ns...); !slices.ContainsFunc(got, func(other dns.RR) bool { return sameData(other, rr) }) {
			t.Errorf("%v is answered by %v", rr, got)
		}
	}
	if err := p.Err(); err != nil {
		t.Errorf("%d records: %v", n, err)
	}
	for known := range dns.TypeToRR {
		if !taken[known] {
			t.Errorf("%s has no record of type %s", file, dns.Type(known))
		}
	}
}

// TestZoneFileSpellings: a record that NSD or BIND read is the same however it is spelled.
func TestZoneFileSpellings(t *testing.T) {
	long := strings.Repeat(" \""+strings.Repeat("t", 250)+"\"", 20)
	for spelled, want := range map[string]string{
		"x TXT \"a\" \"b\"":                     `TXT "a" "b"`,
		"x TXT a b":                             `TXT "a" "b"`,
		"x TXT(\"a\" \"b\")":                    `TXT "a" "b"`,
		"x TXT (\n\"a\"\n\"b\"\n)":              `TXT "a" "b"`,
		"x TXT ( ; one\n\"a\" ; two (\n\"b\" )": `TXT "a" "b"`,
		"x TXT \"a;b\" \"(c\" ; \"d":            `TXT "a;b" "(c"`,
		"x TXT \"a\nb\"":                        `TXT "a\010b"`,
		"x TXT \"\\\"a\\\\\" ; c":               `TXT "\"a\\"`,
		"x TXT \"\\\\\" (\n\"b\" )":             `TXT "\\" "b"`,
		"x TXT a\\;b \\( \"\"":                  `TXT "a;b" "(" ""`,
		"x TXT \\097\\ b":                       `TXT "a b"`,
		"x TXT" + long:                          "TXT" + long,
		"x TXT (\n" + strings.ReplaceAll(long, " ", "\r\n") + "\r\n)\r": "TXT" + long,
		"x A 192.0.2.7\r":                                     "A 192.0.2.7",
		"x\tin\ta\t192.0.2.7":                                 "A 192.0.2.7",
		"x CLASS1 TYPE1 192.0.2.7":                            "A 192.0.2.7",
		"x IN 1h30m A 192.0.2.7":                              "A 192.0.2.7",
		"x 1W IN A 192.0.2.7":                                 "A 192.0.2.7",
		"x A (192.0.2.7)":                                     "A 192.0.2.7",
		"$TTL 1D\n$ORIGIN x\n@ A 192.0.2.7":                   "A 192.0.2.7",
		"$ttl 60 ; c\r\n$origin small.test.\r\nx A 192.0.2.7": "A 192.0.2.7",
		"X.Small.TEST. A 192.0.2.7":                           "A 192.0.2.7",
		"\\120 A 192.0.2.7":                                   "A 192.0.2.7",
		"x type65280 \\# 4 0aBC (\ndeF1 )":                    `TYPE65280 \# 4 0abcdef1`,
		"x TYPE65280 \\# 0":                                   `TYPE65280 \# 0`,
		"x TYPE10 \\# 2 AB cd":                                `NULL \# 2 abcd`,
		"x MX \\# 5 000a 01 78 00":                            "MX 10 x.",
		"x TYPE15 \\# 5 000A017800":                           "MX 10 x.",
		"x DS 1 13 2 (\n49FD46E6C4B45C55D4AC69CBD3CD34AC\n1afe51de3aa5d1c0bd7b8e5f10a1b2c3 )": "DS 1 13 2 49fd46e6c4b45c55d4ac69cbd3cd34ac1afe51de3aa5d1c0bd7b8e5f10a1b2c3",
		"x CDS 0 0 0 00":       "CDS 0 0 0 00",
		"x CDNSKEY 0 3 0 AA==": "CDNSKEY 0 3 0 AA==",
		"x TLSA 3 1 1 D2AB de24 0d7cd3EE6B4B28C54DF034B97983A1D16E8A410E4561CB106618E971": "TLSA 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971",
		"x CAA 0 issue ca.example":               `CAA 0 issue "ca.example"`,
		"x CAA 128 ISSUEWILD \";\"":              `CAA 128 ISSUEWILD ";"`,
		"x URI 10 1 \"ftp://x/\"":                `URI 10 1 "ftp://x/"`,
		"x HINFO cpu os":                         `HINFO "cpu" "os"`,
		"x NAPTR 1 2 u E2U+sip !^.*$!sip:a@b! .": `NAPTR 1 2 "u" "E2U+sip" "!^.*$!sip:a@b!" .`,
		"naptr 9 A 192.0.2.8\nx IN naptr ( 1\n2 u E2U+sip\n!^.*$!sip:b! . )": `NAPTR 1 2 "u" "E2U+sip" "!^.*$!sip:b!" .`,
		"x NAPTR 1 2 \"\" \"\" \"\" y":                                       `NAPTR 1 2 "" "" "" y.small.test.`,
		"x LOC 48 N 11 E 520m":                                               "LOC 48 0 0 N 11 0 0 E 520m 1m 10000m 10m",
		"x LOC 42 21 54 N 71 06 18 W -24m 30m":                               "LOC 42 21 54 N 71 6 18 W -24m 30m 10000m 10m",
		"x SVCB 0 y":                                                         "SVCB 0 y.small.test.",
		"x HTTPS 1 . alpn=h2,h3 port=\"443\" ipv4hint=192.0.2.1,192.0.2.2":   `HTTPS 1 . alpn="h2,h3" port="443" ipv4hint="192.0.2.1,192.0.2.2"`,
		"x HTTPS 1 . mandatory=alpn alpn=\"h2\" key65000=\"v\"":              `HTTPS 1 . mandatory="alpn" alpn="h2" key65000="v"`,
		"x WKS 192.0.2.1 TCP ( smtp 80 )":                                    `TYPE11 \# 16 c0000201060000004000000000000080`,
		"x X25 \"311061700956\"":                                             `TYPE19 \# 13 0c333131303631373030393536`,
		"x GPOS -32.6882 \"116.8652\" 10.0":                                  `TYPE27 \# 23 082d33322e36383832083131362e383635320431302e30`,
		"x SRV 1 2 3 @":                                                      "SRV 1 2 3 small.test.",
		"x MX 10 a\\.b":                                                      `MX 10 a\.b.small.test.`,
	} {
		_, nodes, err := zoneFile{"small.test.", zoneFileFor(t, smallZone+spelled+"\ny A 192.0.2.9\n")}.read()
		if err != nil {
			t.Errorf("%.200s\n: %v", spelled, err)
			continue
		}
		rr, err := dns.NewRR(". 0 IN " + want)
		if err != nil {
			t.Fatal(want, err)
		}
		if node := string(nodes["x"]); !holds(t, node, rr) || !strings.Contains(string(nodes["y"])+string(nodes["y.x"]), "192.0.2.9") {
			t.Errorf("%.200s\n: %.400s, want %.200s", spelled, node, want)
		}
	}
	config, _, err := zoneFile{"small.test.", zoneFileFor(t, "$TTL 600\n@ IN SOA ns h (\n1\n2 ; refresh\n3\n4;expire\n30)\n NS ns\nns A 192.0.2.1")}.read()
	if err != nil || !strings.Contains(string(config), "ns.small.test. h.small.test. 1 2 3 4 30") {
		t.Errorf("numbers that begin their lines: %s, %v", config, err)
	}
	for text, want := range map[string]string{"x A ( 192.0.2.1\n": "not closed", "x A 192.0.2.1 )\n": "not opened", "x TXT \"a\n": ":"} {
		if _, _, err := (zoneFile{"small.test.", zoneFileFor(t, smallZone+text)}).read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// holds reports whether a name's JSON has the data of a record, and no other.
func holds(t *testing.T, node string, rr dns.RR) bool {
	t.Helper()
	if a, is := rr.(*dns.A); is {
		return strings.Contains(node, `"`+a.A.String()+`"`)
	}
	var of struct {
		Records []string `json:"rr"`
	}
	if err := json.Unmarshal([]byte(node), &of); err != nil {
		t.Fatal(err)
	}
	return len(of.Records) == 1 && readsAs(of.Records[0], rr)
}
