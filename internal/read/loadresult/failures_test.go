package loadresult

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Tools count failures in their own words; what kind they are of, and how many had no
// answer at all, is found in all of them.
func TestFailures(t *testing.T) {
	const vegeta = "Requests      [total, rate, throughput]  1200, 120.00, 65.87\nDuration      [total, attack, wait]      10s, 9.9s, 100ms\n" +
		"Latencies     [min, mean, 50, 95, 99, max]  90ms, 113ms, 108ms, 140ms, 247ms, 264ms\nSuccess       [ratio]                    50.00%\n" +
		"Status Codes  [code:count]               0:500  200:600  503:100  \nError Set:\n"
	const wrk = "Running 5s test @ http://localhost:8080\n  2 threads and 2 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n" +
		"    Latency     1.00ms    1.00ms   2.00ms   90.00%\n    Req/Sec   100.00      1.00   200.00     90.00%\n  1000 requests in 5.00s, 15.11KB read\n"
	const hey = "\nSummary:\n  Total:\t2.0 secs\n  Requests/sec:\t100.0\n\nStatus code distribution:\n  [200]\t150 responses\n  [500]\t20 responses\n\nError distribution:\n"
	const k6 = "     execution: local\n     scenarios: (100.00%) 1 scenario\n\n  █ THRESHOLDS \n\n    http_req_duration\n    ✓ 'p(95)<200' p(95)=5.07ms\n\n    http_req_failed\n    ✗ 'rate<0.01' rate=49.99%\n\n\n" +
		"  █ TOTAL RESULTS \n\n    checks_total.......: 100  20/s\n    ✗ status 200\n    HTTP\n    http_req_failed................: 49.99% 50 out of 100\n    http_reqs......................: 100  20/s\n"
	for name, c := range map[string]struct {
		text               string
		ops, failed, mute  int64
		first, more, cross string
	}{
		"vegeta, one kind without an answer": {vegeta + "dial tcp 127.0.0.1:1: connect: connection refused\n", 1200, 600, 500, "connection refused", "status 503", ""},
		"vegeta, several":                    {vegeta + "dial tcp 127.0.0.1:1: connect: connection refused\nEOF\n", 1200, 600, 500, "no answer", "EOF", ""},
		"vegeta, timeouts":                   {vegeta + "context deadline exceeded (Client.Timeout exceeded while awaiting headers)\n", 1200, 600, 0, "deadline", "status 503", ""},
		"wrk, errors and a status":           {wrk + "  Socket errors: connect 7, read 236, write 0, timeout 4\n  Non-2xx or 3xx responses: 40\nRequests/sec:   200.00\n", 1243, 287, 243, "cannot read", "other than 2xx", ""},
		"hey":                                {hey + "  [30]\tGet \"http://localhost:1/\": EOF\n  [5]\tGet \"http://localhost:1/\": context deadline exceeded (Client.Timeout exceeded)\n", 205, 55, 30, "EOF", "status 500", ""},
		"k6":                                 {k6, 100, 50, 0, "http_req_failed", "", "http_req_failed: 'rate<0.01' rate=49.99%"},
	} {
		r, err := Parse(strings.NewReader(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Ops != c.ops || r.Failed != c.failed || r.Unanswered != c.mute {
			t.Errorf("%s: %d operations, %d failed, %d without an answer; want %d, %d, %d", name, r.Ops, r.Failed, r.Unanswered, c.ops, c.failed, c.mute)
		}
		has := func(part string) bool {
			return slices.ContainsFunc(r.Errors, func(f Failure) bool { return strings.Contains(f.What, part) })
		}
		if len(r.Errors) == 0 || !strings.Contains(r.Errors[0].What, c.first) || !has(c.more) {
			t.Errorf("%s: failures %v, want first %q, and %q", name, r.Errors, c.first, c.more)
		}
		if got := strings.Join(r.Crossed, ", "); got != c.cross {
			t.Errorf("%s: crossed %q, want %q", name, got, c.cross)
		}
	}
}

// The results of single requests are counted by kind, too.
func TestFailuresOfResults(t *testing.T) {
	text := `{"attack":"","seq":0,"code":200,"timestamp":"2026-01-01T00:00:00Z","latency":1000000,"bytes_out":0,"bytes_in":5,"error":""}
{"attack":"","seq":1,"code":503,"timestamp":"2026-01-01T00:00:01Z","latency":1000000,"bytes_out":0,"bytes_in":5,"error":"503 Service Unavailable"}
{"attack":"","seq":2,"code":0,"timestamp":"2026-01-01T00:00:02Z","latency":1000000,"bytes_out":0,"bytes_in":0,"error":"connection refused"}
`
	r, err := Parse(strings.NewReader(text))
	if err != nil || r.Failed != 2 || r.Unanswered != 1 || len(r.Errors) != 2 {
		t.Errorf("Parse() = %+v, %v; want two kinds of failures, one without an answer", r, err)
	}
}

const ghzText = "\nSummary:\n  Count:\t200\n  Total:\t1.20 s\n  Slowest:\t69.60 ms\n  Fastest:\t26.09 ms\n  Average:\t32.01 ms\n  Requests/sec:\t166.67\n\n" +
	"Response time histogram:\n  26.090 [1]\t|\n\nLatency distribution:\n  50 % in 31.00 ms \n  99 % in 60.10 ms \n\n" +
	"Status code distribution:\n  [OK]            150 responses   \n  [Unavailable]   50 responses   \n\nError distribution:\n  [50]   rpc error: code = Unavailable desc = connection refused   \n"

const ghzJSON = `{"date":"2026-01-01T00:00:10Z","options":{"host":"h"},"count":200,"total":1200000000,"average":32010000,"fastest":26090000,"slowest":69600000,"rps":166.67,` +
	`"errorDistribution":{"rpc error: code = Internal":50},"statusCodeDistribution":{"Internal":50,"OK":150},"latencyDistribution":[{"percentage":50,"latency":31000000}]}`

const k6CSV = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n" +
	"http_reqs,1700000000,1.000000,,,,true,,GET,,HTTP/1.1,default,,200,,,,,\nhttp_req_duration,1700000000,2.5,,,,true,,GET,,HTTP/1.1,default,,200,,,,,\n" +
	"http_req_duration,1700000002,3.5,,,1503,false,,GET,,HTTP/1.1,default,,503,,,,,\nhttp_req_duration,1700000003,1.5,,dial: connection refused,1212,false,,GET,,HTTP/1.1,default,,0,,,,,\ndata_received,1700000003,700,,,,,,,,,,,,,,,,\n"

const (
	goWrkBegins = "Running 90s test @ http://127.0.0.1:8080/\n  10 goroutine(s) running concurrently\n"
	goWrkText   = "150 requests in 1m2.5s, 1.50MB read\nRequests/sec:\t\t2.40\nTransfer/sec:\t\t24.58KB\nAvg Req Time:\t\t4.2ms\nFastest Request:\t340.42µs\nSlowest Request:\t1.2s\n"
)

// goWrkCalls is of the other go-wrk.
const goWrkCalls = "what do its errors mean?\n\t=====BENCHMARK=====\n\tURL:\thttp://127.0.0.1:8080/\n\n\tUsed Connections:\t10\n\tUsed Threads:\t10\n\tTotal number of calls:\t200\n\n" +
	"\t=====TIMINGS=====\n\tTotal time passed:\t2.00s\n\tAvg time per request:\t90.10ms\n\tRequests per second:\t100.00\n\tMedian time per request:\t59.04ms\n" +
	"\t99th percentile time:\t121.08ms\n\tSlowest time for request:\t173.00ms\n\n\t=====RESPONSES=====\n\t20X Responses:\t20\t(10.00%)\n\t30X Responses:\t0\t(0.00%)\n" +
	"\t40X Responses:\t0\t(0.00%)\n\t50X Responses:\t30\t(15.00%)\n\t50X Responses:\t30\t(15.00%)\n\tErrors:\t150\t(75.00%)\n"

// Its rate is of those that got an answer; its time is longer than a minute.
func TestGoWrk(t *testing.T) {
	r, err := Parse(strings.NewReader(goWrkBegins + goWrkText + "Number of Errors:\t50\n"))
	if err != nil || r.Rate != 2.4 || r.Duration != 62500*time.Millisecond || r.Mean != 4200*time.Microsecond || r.Bytes != 1572864 {
		t.Errorf("Parse() = %+v, %v; want 2.4 a second for 62.5 s, 4.2 ms each, 1,572,864 bytes", r, err)
	}
	const none = goWrkBegins + "Error: No statistics collected / no requests found\n\n"
	if _, err := Parse(strings.NewReader(none)); err == nil || !strings.Contains(err.Error(), "none of its requests") {
		t.Errorf("Parse(%q) = %v, want an error that none was answered", none, err)
	}
}

// Tools whose output is one request, or one sum, in a form of their own.
func TestOtherTools(t *testing.T) {
	for _, c := range []struct {
		name, tool        string
		text              []byte
		ops, failed, mute int64
		p50, longest      string
		first             string
	}{
		{"vegeta's own", "vegeta", read(t, "vegeta-12-results.bin"), 39, 19, 0, "", "", "status 503"},
		{"bombardier", "bombardier", read(t, "bombardier-2.0.txt"), 400, 200, 0, "2.5ms", "58.11ms", "status 5xx"},
		{"bombardier's JSON", "bombardier", read(t, "bombardier-2.0.json"), 400, 200, 0, "2.456ms", "79.159ms", "status 5xx"},
		{"bombardier, nobody there", "bombardier", read(t, "bombardier-2.0-refused.txt"), 40, 40, 40, "", "419µs", "connection refused"},
		{"ab", "ab", read(t, "ab-2.3.txt"), 400, 200, 0, "3ms", "64ms", "a status other than 2xx"},
		{"ab, all well", "ab", read(t, "ab-2.3-ok.txt"), 300, 0, 0, "0s", "30ms", ""},
		{"ghz", "ghz", []byte(ghzText), 200, 50, 50, "31ms", "69.6ms", "status Unavailable"},
		{"ghz's JSON", "ghz", []byte(ghzJSON), 200, 50, 0, "31ms", "69.6ms", "status Internal"},
		{"k6's CSV", "k6", []byte(k6CSV), 3, 2, 0, "", "", "dial: connection refused"},
		{"go-wrk", "go-wrk", []byte(goWrkBegins + goWrkText + "Number of Errors:\t50\n"), 200, 50, 0, "", "1.2s", "a status other than 200"},
		{"the other go-wrk", "go-wrk", []byte(goWrkCalls), 200, 180, 150, "59.04ms", "173ms", "no answer"},
		{"go-wrk, later, all well", "go-wrk", []byte(goWrkBegins + goWrkText + "Number of Errors:\t0\n50%:\t\t\t1.5ms\n99.9%:\t\t\t80ms\nstddev:\t\t\t3ms\n"), 150, 0, 0, "1.5ms", "1.2s", ""},
	} {
		if !Detect(c.text) {
			t.Errorf("%s: not detected", c.name)
			continue
		}
		r, err := Parse(strings.NewReader(string(c.text)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Tool != c.tool || r.Failed != c.failed || r.Unanswered != c.mute || r.Ops != c.ops {
			t.Errorf("%s: %s, %d operations, %d failed, %d without an answer; want %s, %d, %d, %d", c.name, r.Tool, r.Ops, r.Failed, r.Unanswered, c.tool, c.ops, c.failed, c.mute)
		}
		if c.longest != "" && r.at(1).String() != c.longest || c.p50 != "" && r.at(0.5).String() != c.p50 {
			t.Errorf("%s: median %s, longest %s; want %s, %s", c.name, r.at(0.5), r.at(1), c.p50, c.longest)
		}
		if got := len(r.Errors) > 0; got != (c.first != "") || got && !strings.Contains(r.Errors[0].What, c.first) {
			t.Errorf("%s: failures %v, want first %q", c.name, r.Errors, c.first)
		}
	}
}
