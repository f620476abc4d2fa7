// Package api has the answers of a fleet's server, as it sends them and as its clients read them.
//
// It hides nothing but the names that fields have in JSON, which are an interface: a field
// keeps its name and its meaning. It computes nothing and asks nobody. The types of the page,
// ui/src/fleet/api.ts, are made from these.
package api

// Where recordings are listed and taken, where agents ask what to record, where operators do,
// and where recordings are sent in pieces, each by the hash of its whole content.
const (
	RunsPath    = "/api/v1/runs"
	WantedPath  = RunsPath + "/wanted"
	RecordPath  = RunsPath + "/record"
	UploadsPath = "/api/v1/uploads/"
)

// The headers of an upload, and the type of its pieces. Headers and statuses are those of the
// IETF's draft on resumable uploads: HEAD tells the offset and PATCH appends at it; the first
// PATCH creates the upload.
const (
	OffsetHeader   = "Upload-Offset"
	LengthHeader   = "Upload-Length"
	CompleteHeader = "Upload-Complete"
	PieceType      = "application/partial-upload"
)

// An Error is the answer to a question that has none.
type Error struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"` // what to do: a command to paste, or a sentence
}
