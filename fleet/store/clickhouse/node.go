package clickhouse

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// mostError is how much of what a server says about an error is passed on.
const mostError = 400

// A node is a server: one copy of a shard.
type node struct {
	address        string
	database       string
	user, password string
	timeout        time.Duration
	client         *http.Client

	path      string // of the tables of the shard in ZooKeeper; not copied where it is empty
	copy      int    // from 1 on
	quorum    int    // the copies that acknowledge an INSERT; one where it is 0
	shard, of int    // from 1 on
	preparing chan struct{}
	ready     bool
	newer     bool // than 21.11: it defers INSERTs and has several at once, unless asked not to
}

// newClient is for all nodes. Servers close connections that are idle for three seconds,
// in the configuration that they come with; ours go before.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 16,
			IdleConnTimeout:     2 * time.Second,
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress refuses what is not just a scheme and a host.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("an address does not parse (hint: write it like http://127.0.0.1:8123)")
	}
	if u.User != nil {
		return errors.New("an address has a user (hint: set User and Password instead)")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is no address of a server (hint: write it like http://127.0.0.1:8123)", address)
	}
	return nil
}

// An answerError is what a server that was reached said instead of an answer.
type answerError struct {
	status int
	text   string
}

func (e *answerError) Error() string {
	return fmt.Sprintf("status %d: %.*q", e.status, mostError, e.text)
}

// post sends a statement, or a statement and its data, and gives the body of an answer of
// status 200 to read.
func (n *node) post(ctx context.Context, settings url.Values, body []byte, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	// The server holds the answer back until it is whole: an error has its status.
	settings.Set("wait_end_of_query", "1")
	settings.Set("max_execution_time", strconv.FormatInt(int64(max(1, n.timeout/time.Second)), 10))
	address := strings.TrimRight(n.address, "/") + "/?" + settings.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if n.user != "" {
		request.SetBasicAuth(n.user, n.password)
	}
	response, err := n.client.Do(request)
	if err != nil {
		var failed *url.Error // has all of the statement
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return err
	}
	defer response.Body.Close() // read to its end, or an error is on its way
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, mostError)) // what there is of it
		return &answerError{response.StatusCode, string(text)}
	}
	return read(response.Body)
}

// silent is for answers that have to be empty.
func silent(body io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(body, mostError))
	if err == nil && len(text) > 0 {
		err = &answerError{http.StatusOK, string(text)}
	}
	return err
}

// do runs a statement that has no answer.
func (n *node) do(ctx context.Context, statement string) error {
	return n.post(ctx, url.Values{"database": {n.database}}, []byte(statement), silent)
}

// ask runs a query and calls a function for each row, behind its mark.
func (n *node) ask(ctx context.Context, query string, row func(*decoder)) error {
	settings := url.Values{"database": {n.database}, "max_query_size": {strconv.Itoa(mostQuery)}}
	if n.quorum > 0 { // a copy that lacks what was acknowledged says so
		settings.Set("select_sequential_consistency", "1")
	}
	return n.post(ctx, settings, []byte(query+" FORMAT RowBinary"), func(body io.Reader) error {
		d := newDecoder(ctx, body)
		return d.each(func() { row(d) })
	})
}

// frameHead is the length of the head of a frame.
const frameHead = 25

// insert adds rows to a table.
//
// They are one frame of ClickHouse's own container, without compression and without the
// checksum. A server that reads plain rows cannot tell the end of a body from the end of a
// client: it would keep the rows that came. Of a frame it knows the length, and keeps all or
// nothing: rows of one day in one INSERT become visible at once.
func (n *node) insert(ctx context.Context, table, columns string, rows []byte) error {
	if len(rows) > math.MaxInt32-frameHead {
		return fmt.Errorf("%d bytes are too many for one INSERT", len(rows))
	}
	settings := url.Values{
		"database":   {n.database},
		"query":      {"INSERT INTO " + table + " (" + columns + ") FORMAT RowBinary"},
		"decompress": {"1"},
		"http_native_compression_disable_checksumming_on_decompress": {"1"},
	}
	if n.newer {
		settings.Set("async_insert", "0")
	}
	if n.path != "" {
		// What the server takes for a repetition it acknowledges without its copies. Ours
		// are told apart by their IDs.
		settings.Set("insert_deduplicate", "0")
	}
	if n.quorum > 0 {
		settings.Set("insert_quorum", strconv.Itoa(n.quorum))
		settings.Set("insert_quorum_timeout", strconv.FormatInt(n.timeout.Milliseconds(), 10))
		if n.newer {
			settings.Set("insert_quorum_parallel", "0") // one after the other: reads can tell what is whole
		}
	}
	return n.post(ctx, settings, frame(rows), silent)
}

// frame returns a checksum that is not looked at, the method (none), the length from the method
// on, the length of the data, and the data.
func frame(rows []byte) []byte {
	const checksum, none = 16, 2
	body := make([]byte, checksum, frameHead+len(rows))
	body = append(body, none)
	body = binary.LittleEndian.AppendUint32(body, uint32(frameHead-checksum+len(rows)))
	body = binary.LittleEndian.AppendUint32(body, uint32(len(rows)))
	return append(body, rows...)
}
