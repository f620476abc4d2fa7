package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limits of an upload. It is one user's own, from a browser of the same machine:
// they keep a mistake from filling the disk.
const (
	maxUpload      = 16 << 30 // bytes of all files together
	maxUploadFiles = 256
	uploadPause    = time.Minute // without a byte
)

// upload takes the files of one drop into a directory of their own, and reads them. Runs
// appear on the page when they have been read; the error of what cannot be read goes to
// whoever dropped it and leaves nothing behind.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, q url.Values) error {
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		return refuse(http.StatusTooManyRequests, "wait until they are", "files are being read already")
	}
	root, err := s.scratch()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(root, "drop-")
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			_ = os.RemoveAll(dir) // a temporary one
		}
	}()
	d := drop{dir: dir, left: maxUpload, names: map[string]bool{}}
	controller := http.NewResponseController(w)
	body := &deadlineReader{r: r.Body, extend: func() { _ = controller.SetReadDeadline(time.Now().Add(uploadPause)) }} // not every connection has one
	if err := d.receive(r, body, q.Get("name")); err != nil {
		return err
	}
	_ = controller.SetReadDeadline(time.Time{}) // reading what came may take longer
	// An answer that takes longer than the page waits is no reason to give up:
	// the files are here.
	ctx := context.WithoutCancel(r.Context())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	answer, err := s.take(ctx, d.files)
	if err != nil {
		return d.hideDir(err)
	}
	kept = true
	return s.json(w, r, answer)
}

// take opens what was dropped. Either all of it is there afterwards or nothing.
func (s *Server) take(ctx context.Context, files []string) (*Upload, error) {
	found, err := s.options.Sort(files)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(found.Runs))
	for i, src := range found.Runs {
		src.Dropped = true
		if views[i], err = s.read(ctx, src); err != nil {
			return nil, err
		}
	}
	answer := &Upload{}
	for _, res := range found.Results {
		answer.Trials = append(answer.Trials, s.page.addResult(res))
	}
	for i, v := range views {
		answer.Runs = append(answer.Runs, s.page.addView(v, bases(found.Runs[i].Files)))
	}
	return answer, nil
}

// bases returns the names of files without the temporary directory they are in.
func bases(files []string) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = filepath.Base(f)
	}
	return list
}

// hideDir returns an error without the directory that the reader never saw.
func (d *drop) hideDir(err error) error {
	p, status := explain(err)
	strip := strings.NewReplacer(d.dir+string(filepath.Separator), "", d.dir, "what was dropped")
	return refuse(status, strip.Replace(p.Hint), "%s", strip.Replace(p.What))
}

// A drop is the files of one upload on their way to the disk.
type drop struct {
	dir   string
	left  int64 // bytes that may still come
	files []string
	names map[string]bool
}

// receive takes the files of a request's body: the parts of a form, or the body
// itself.
func (d *drop) receive(r *http.Request, body io.Reader, named string) error {
	kind, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // of a body without one: a file
	if kind != "multipart/form-data" {
		return d.file(named, body)
	}
	form := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return uploadError(err)
		}
		if name := part.FileName(); name != "" {
			if err := d.file(name, part); err != nil {
				return err
			}
		}
	}
	if len(d.files) == 0 {
		return misuse("no file came")
	}
	return nil
}

// file writes one file. What it is called in the browser is for the reader's
// eyes; on the disk it gets a name that can do nothing.
func (d *drop) file(named string, r io.Reader) error {
	if len(d.files) == maxUploadFiles {
		return misuse("more than %d files at once", maxUploadFiles)
	}
	path := filepath.Join(d.dir, d.harmless(named))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, d.left+1))
	closed := f.Close()
	if d.left -= n; d.left < 0 {
		return refuse(http.StatusRequestEntityTooLarge, "gowhy view FILE reads it where it is", "more than %d GiB were dropped", maxUpload>>30)
	}
	if err != nil {
		return uploadError(err)
	}
	if closed != nil {
		return closed
	}
	d.files = append(d.files, path)
	return nil
}

// maxFileName is how much of a name is kept, well under what file systems take.
const maxFileName = 80

// harmless makes a file's name of what a browser says: the last piece of it, of
// characters that mean nothing to a shell, a terminal or a path, and none twice.
func (d *drop) harmless(named string) string {
	named = named[strings.LastIndexAny(named, `/\`)+1:]
	clean := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+ ", r) {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(named, "_"))
	clean = strings.TrimLeft(strings.TrimSpace(clean), ".-")
	if len(clean) > maxFileName { // the end says what it is
		clean = strings.ToValidUTF8(clean[len(clean)-maxFileName:], "")
	}
	if clean == "" {
		clean = "file"
	}
	ext := filepath.Ext(clean)
	unique := clean
	for i := 2; d.names[unique]; i++ {
		unique = strings.TrimSuffix(clean, ext) + "-" + strconv.Itoa(i) + ext
	}
	d.names[unique] = true
	return unique
}

// uploadError tells why files did not come whole.
func uploadError(err error) error {
	var file *os.PathError
	if errors.As(err, &file) {
		return refuse(http.StatusInsufficientStorage, "TMPDIR=DIR gowhy view puts it elsewhere", "the file could not be kept: %v", file.Err)
	}
	return misuse("the files did not come whole: %v", err)
}

// A deadlineReader gives the other side time for each piece, however long all
// of it takes.
type deadlineReader struct {
	r      io.Reader
	extend func()
}

func (p *deadlineReader) Read(b []byte) (int, error) {
	p.extend()
	return p.r.Read(b)
}
