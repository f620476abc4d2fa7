package server

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gowhy/gowhy/fleet/backup"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/store"
)

// backupHandler gives an archive of what is kept. One that breaks off has no end, which
// package backup notices.
func backupHandler(s store.Store, kept *runs.Store, log *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, ok := s.(store.Snapshotter)
		if !ok {
			refuse(w, http.StatusNotImplemented, "the profiles are in ClickHouse, which makes backups of its own; the recordings are in the directory runs of the data")
			return
		}
		began := false
		err := from.Snapshot(r.Context(), func(dir string) error {
			parts := []backup.Part{{Name: ".", Dir: dir}}
			if kept != nil {
				parts = append(parts, kept.Backup("runs"))
			}
			began = true
			w.Header().Set("Content-Type", "application/x-tar")
			w.Header().Set("Content-Disposition", `attachment; filename="gowhy-fleet-`+time.Now().UTC().Format("20060102T150405Z")+`.tar"`)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			return backup.Write(&slow{ResponseWriter: w, control: http.NewResponseController(w)}, parts...)
		})
		switch {
		case err == nil:
			return
		case errors.Is(err, store.ErrSnapshot):
			w.Header().Set("Retry-After", "60")
			refuse(w, http.StatusConflict, "another backup is being made")
			return
		}
		log.Error("a backup", "err", err)
		if began {
			panic(http.ErrAbortHandler) // who reads it must see that this is not its end
		}
		refuse(w, http.StatusInternalServerError, "the store cannot be backed up; the server's log says why")
	}
}
