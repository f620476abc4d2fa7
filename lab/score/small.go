package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Folders of many small programs of one subject, lab/waits and lab/holders, are judged alike:
// chosen by name, run until they say that they are what they are, and their answers saved with
// those that were not asked for again.

// loadAnswers reads saved answers; nil when there are none.
func loadAnswers[T any](path string, schemaOf func(*T) int) (*T, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	saved := new(T)
	if err := json.Unmarshal(b, saved); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if is := schemaOf(saved); is != schema {
		return nil, fmt.Errorf("%s: schema %d; wanted %d", path, is, schema)
	}
	return saved, nil
}

// saveAnswers writes one answer a line.
func saveAnswers[T any](path string, taken Provenance, answers []T) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := writeHead(f, taken, nil); err != nil {
		return err
	}
	if err := lines(f, answers); err != nil {
		return err
	}
	_, err = io.WriteString(f, "]}\n")
	return err
}

// withOthers adds old answers to fresh ones, of what was not asked again and is still known.
func withOthers[T any](fresh, old []T, key func(*T) (name string, known bool)) []T {
	again := map[string]bool{}
	for i := range fresh {
		name, _ := key(&fresh[i])
		again[name] = true
	}
	for i := range old {
		if name, known := key(&old[i]); known && !again[name] {
			fresh = append(fresh, old[i])
		}
	}
	return fresh
}

// chooseNamed returns those of a folder with one of the names, which may end in *; "" is all.
func chooseNamed[T any](all []T, names, folder string, nameOf func(*T) string) (chosen []T, err error) {
	if names == "" {
		return all, nil
	}
	for _, name := range strings.Split(names, ",") {
		n := len(chosen)
		for i := range all {
			if ok, err := filepath.Match(name, nameOf(&all[i])); err != nil {
				return nil, err
			} else if ok {
				chosen = append(chosen, all[i])
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("there is no program %q in %s", name, folder)
		}
	}
	return chosen, nil
}

// startSaying starts a program and waits for its first line, which says that it is what it is.
// What it says on standard error is there once it has ended.
func startSaying(ctx context.Context, cmd *exec.Cmd) (said *bytes.Buffer, err error) {
	said = &bytes.Buffer{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if !bufio.NewScanner(out).Scan() {
		return nil, fmt.Errorf("%s did not begin: %w\n%s", strings.Join(cmd.Args, " "), cmp.Or(cmd.Wait(), ctx.Err()), said.String())
	}
	return said, nil
}
