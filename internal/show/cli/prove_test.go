package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/spf13/pflag"
)

// What rules tell the reader to paste is read by the real command line: every
// command in their pages, in the findings of their fixtures, and in the notes
// of their experiments.
func TestProveCommandsParse(t *testing.T) {
	seen := 0
	for _, from := range []struct {
		files   string
		command *regexp.Regexp
	}{
		{"../../judge/rules/*.md", regexp.MustCompile("(?s)```\n(.*?)```")},
		{"../../judge/rules/*.md", inBackticks},
		{"../../judge/rules/*.go", inBackticks},
		{"../../judge/measure/*/*.go", inBackticks},
		{"../../judge/rules/testdata/*.txt", regexp.MustCompile(`(?m)^    try (.*)$`)},
		{"../../judge/rules/testdata/*.txt", regexp.MustCompile(`(?m)^  unchecked .*\(([^()]*gowhy [^()]*)\)$`)},
		{"../../judge/diagnosis/sources.go", regexp.MustCompile(`return "([^"\n]*gowhy [^"\n]*)"$`)},
	} {
		files, err := filepath.Glob(from.files)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", from.files, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range from.command.FindAllStringSubmatch(string(text), -1) {
				for _, line := range strings.Split(strings.TrimSpace(m[1]), "\n") {
					if from.command == inBackticks {
						line = strings.Join(strings.Fields(m[1]), " ") // wrapped
					}
					for _, args := range gowhyCommands(line) {
						seen++
						if err := parses(args); err != nil {
							t.Errorf("%s: %q: %v", file, line, err)
						}
					}
					if from.command == inBackticks {
						break
					}
				}
			}
		}
	}
	if seen < 200 { // 70 pages with two commands and more, and some findings
		t.Errorf("only %d commands were found", seen)
	}
}

// What a finding prints is pasted: no word of it stands for something that the reader would
// have to know, and no program, port or flag is invented. Fixtures without an address or a
// command line have no command with one.
func TestPrintedCommandsRunAsPasted(t *testing.T) {
	printed := []*regexp.Regexp{regexp.MustCompile(`(?m)^    try (.*)$`), regexp.MustCompile(`(?m)^  unchecked .*\(([^()]*gowhy [^()]*)\)$`)}
	files, err := filepath.Glob("../../judge/rules/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, story := range strings.Split(string(text), "\n== ") {
			for _, form := range printed {
				for _, m := range form.FindAllStringSubmatch(story, -1) {
					for _, args := range gowhyCommands(m[1]) {
						seen[args[0]]++
						if why := pasted(args, story); why != "" {
							t.Errorf("%s: %q: %s", file, m[1], why)
						}
					}
				}
			}
		}
	}
	const program = "./app -n 3, http://localhost:8080/orders" // of commands.list
	list, err := os.ReadFile("../../judge/rules/testdata/commands.list")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		for _, args := range gowhyCommands(strings.TrimSpace(line[strings.Index(line, ": ")+1:])) {
			seen[args[0]]++
			if why := pasted(args, program+" http://localhost:6060/debug/pprof/"); why != "" {
				t.Errorf("commands.list: %q: %s", line, why)
			}
		}
	}
	if seen["verify"] < 50 || seen["record"] < 100 || seen["tune"] < 1 || seen["compare"]+seen["diagnose"] < 10 {
		t.Errorf("commands by name: %v", seen)
	}
}

var (
	blankWord = regexp.MustCompile(`^(?:log:)?[A-Z]{3,}$|^<.*>$|…`)
	placeWord = regexp.MustCompile(`\{([A-Za-z0-9_.-]+)\}`)
)

// pasted says why a command would fail on its own words; empty when it would not. What it
// is about must be in the evidence that it was printed for.
func pasted(args []string, evidence string) string {
	if err := parses(args); err != nil {
		return err.Error()
	}
	line := strings.Join(args, " ")
	for i, a := range args {
		switch {
		case a == "", blankWord.MatchString(a):
			return strconv.Quote(a) + " stands for something"
		case (a == "--url" || a == "--ready") && !strings.Contains(evidence, strings.TrimSuffix(args[i+1], "/")):
			return args[i+1] + " is not in the evidence"
		case a == "--load":
			for _, inner := range gowhyCommands(args[i+1]) {
				if why := pasted(inner, evidence); why != "" {
					return why
				}
			}
		case a == "--pid":
			return "a process has ended until its command is pasted"
		}
		for _, place := range placeWord.FindAllStringSubmatch(a, -1) {
			if place[1] != "binary" && !strings.Contains(line, "--knob "+place[1]+"=") {
				return place[0] + " is no knob"
			}
		}
	}
	return ""
}

func TestPasted(t *testing.T) {
	const evidence = "run ./app url=http://localhost:6060/debug/pprof/"
	for line, ok := range map[string]bool{
		"gowhy verify run.gowhy --apply hotmutex":                                             true,
		"gowhy record -d 10s -o x.gowhy --url http://localhost:6060":                          true,
		"gowhy record -d 10s -o x.gowhy --url http://localhost:7070":                          false,
		"gowhy record -d 10s -o x.gowhy -- COMMAND":                                           false,
		"gowhy record -d 10s --pid 1":                                                         false,
		"gowhy verify --base HEAD --package PACKAGE -- {binary} -n 3":                         false,
		"gowhy tune --knob pool=1..256 --goal 'min(elapsed)' -- ./app -pool {pool}":           true,
		"gowhy tune --knob pool=1..256 --goal 'min(elapsed)' -- ./app -pool {conns}":          false,
		"gowhy verify run.gowhy --apply x --load 'gowhy load URL --closed -d 5s' --ready URL": false,
	} {
		if why := pasted(gowhyCommands(line)[0], evidence); (why == "") != ok {
			t.Errorf("%s: %q", line, why)
		}
	}
}

// What the documents print in blocks, tables and sentences is read by the real
// command line as well.
func TestCommandsOfDocumentsParse(t *testing.T) {
	cases, err := filepath.Glob("../../../lab/*/CASE.md")
	if err != nil || len(cases) == 0 {
		t.Fatal(cases, err)
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	seen := map[string]int{}
	for _, file := range slices.Concat(cases, pages, []string{"../../../README.md", "../../../ARCHITECTURE.md"}) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documentedLines(string(text)) {
			for _, args := range gowhyCommands(line) {
				if len(args) == 0 {
					continue // the name of the command alone
				}
				seen[filepath.Base(file)]++
				if f, _ := runningTarget(&cobra.Command{}, args[:1]); f != nil { // what record takes, without its name
					if args = append([]string{"record", "--url"}, args...); f.target.PID > 0 {
						args[1] = "--pid"
					}
				} else if args[0] == "COMMAND" { // stands for any
					args[0] = "diagnose"
				} else if strings.HasPrefix(args[0], "-") { // bare files are diagnosed
					args = append([]string{"diagnose"}, args...)
				}
				err := parses(args)
				if err != nil && strings.HasPrefix(args[min(1, len(args)-1)], "-") { // a sentence speaks of the flag only
					err = parses(append(args, "FILE"))
				}
				if err != nil {
					t.Errorf("%s: %q: %v", file, line, err)
				}
			}
		}
	}
	if seen["README.md"] < 20 || seen["proving.md"] < 8 || seen["CASE.md"] < 2 || seen["ARCHITECTURE.md"] < 1 {
		t.Errorf("only these commands were found: %v", seen)
	}
}

var (
	codeBlock = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")
	codeSpan  = regexp.MustCompile("`([^`]+)`")
)

// documentedLines returns the lines of a document's code: those of blocks, without
// the prompt and whole where a backslash wraps them, and what is in backticks.
func documentedLines(text string) (lines []string) {
	for _, m := range codeBlock.FindAllStringSubmatch(text, -1) {
		block := strings.ReplaceAll(m[1], "\\\n", " ")
		for _, line := range strings.Split(block, "\n") {
			_, command, prompt := strings.Cut(line, "$ ")
			if !prompt {
				command = line
			}
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		lines = append(lines, strings.Join(strings.Fields(m[1]), " "))
	}
	return lines
}

// A command inside a sentence may be wrapped, but holds no empty line.
var inBackticks = regexp.MustCompile("(?:^|[^`])`((?:sudo )?gowhy (?:[^`\n]|\n[^\n])*)`")

// parses reports what is wrong with a command line, without running it. A
// command that is only named, like "gowhy ledger", must exist.
func parses(args []string) error {
	args = slices.Clone(args)
	for i, a := range args {
		if i > 0 && args[i-1] == "--load" { // a command inside the command
			for _, inner := range gowhyCommands(a) {
				if err := parses(inner); err != nil {
					return err
				}
			}
		}
		if a == "PID" { // stands for a number
			args[i] = "1"
		}
	}
	c := &command{Options: Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}}
	root := c.root()
	cmd, rest, err := root.Find(args)
	switch {
	case err != nil:
		return err
	case cmd == root && (len(args) == 0 || !strings.Contains(args[0], ".")):
		return fmt.Errorf("there is no command %q", args)
	case len(args) == 1 && cmd != root:
		return nil
	}
	switch err := cmd.ParseFlags(rest); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// gowhyCommands returns the arguments of each call of gowhy in a shell's line.
func gowhyCommands(line string) (list [][]string) {
	var command []string
	end := func() {
		if i := slices.Index(command, "gowhy"); i >= 0 && i <= 1 { // perhaps after sudo or a variable
			list = append(list, command[i+1:])
		}
		command = nil
	}
	for _, word := range shellTokens(line) {
		switch word {
		case "&&", ";", "|":
			end()
		default:
			command = append(command, word)
		}
	}
	end()
	return list
}

// shellTokens splits a line as a shell does, as far as these commands go:
// quotes, comments, and a semicolon after a word.
func shellTokens(line string) (words []string) {
	var word strings.Builder
	open := false
	var quote rune
	flush := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '#' && !open:
			return words
		case r == ' ':
			flush()
		case r == ';':
			flush()
			words = append(words, ";")
		default:
			word.WriteRune(r)
			open = true
		}
	}
	flush()
	return words
}

func TestGowhyCommands(t *testing.T) {
	for line, want := range map[string]string{
		"gowhy tune --goal 'min(elapsed)' -- ./app # note": `[["tune" "--goal" "min(elapsed)" "--" "./app"]]`,
		"gowhy doctor && sudo gowhy record -d 10s":         `[["doctor"] ["record" "-d" "10s"]]`,
		"go build ./... 2> x; gowhy diagnose x":            `[["diagnose" "x"]]`,
		"start the load: nothing":                          `[]`,
	} {
		if got := fmt.Sprintf("%q", gowhyCommands(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if parses([]string{"prove", "it"}) == nil || parses([]string{"record", "--no-such-flag", "x"}) == nil {
		t.Error("a command that does not exist is taken")
	}
	if err := parses([]string{"record", "-d", "10s", "--", "./app", "-x"}); err != nil {
		t.Error(err)
	}
}
