package modules

import (
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lists of changes are written by people: a heading with a version, and below it a line or a
// paragraph for each change. The names in a line tell which functions it speaks of.

var (
	// versionWord is a version in a heading, as "## [1.21.0/0.44.0] 2023-11-16" has two.
	versionWord = regexp.MustCompile(`\bv?(\d+\.\d+(?:\.\d+)?)\b`)
	// cheaper are the words of a change that takes less time; costs are what another does with less of.
	cheaper = regexp.MustCompile(`(?i)\b(perf|performance|performant|faster|fast path|hot paths?|speed(s|ed|ing)?[ -]?up|slow|slowness|slowdown|` +
		`quadratic|optimi[sz](e|es|ed|ing|ations?)|efficien(t|tly|cy))\b|\bO\(`)
	costs = regexp.MustCompile(`(?i)\b(alloc(ates?|ated|ating|ations?|s)|memory|contention|cop(y|ies|ying)|garbage|cpu)\b`)
	less  = regexp.MustCompile(`(?i)\b(no longer|fewer|less|avoid(s|ed|ing)?|reduc(e|es|ed|ing|tion)|without|eliminat\w+|remov(e|es|ed|ing)|` +
		`zero|minimi[sz]\w+|lower(s|ed|ing)?|decreas\w+|unnecessary|needless|redundant|reus(e|es|ed|ing))\b`)
	// What is no change of what there was: something new, something for later, a leak that was mended,
	// which costs memory and no CPU.
	another = regexp.MustCompile(`(?i)^(\W*\[\w+\]\W*)?(\w+: )?(add|adds|added|introduc\w+|support\w*|new)\b|\b(experimental|future|leak\w*|document\w*|benchmarks?)\b`)
	// leaks are the words of a leak of what a program holds; told are those of one that gives something away,
	// and of what looks for leaks.
	leaks = regexp.MustCompile(`(?i)\bleak(s|ed|ing|age|y)?\b`)
	told  = regexp.MustCompile(`(?i)\b(add|adds|added|tests?|detect\w*|document\w*|benchmarks?|informations?|credentials?|secrets?|passwords?|tokens?|headers?|stale|introduc\w+)\b`)
	word  = regexp.MustCompile(`[\pL\pN_]+`)
	// dated is a version as an item of a list, "* Mar 3, 2022 (v1.15.0)", with changes below it or behind.
	dated = regexp.MustCompile(`^[*+-] [^()]{0,24}\(v?(\d+\.\d+(?:\.\d+)?)\)[: ]*`)
	// section is the heading of the changes in a README.
	section = regexp.MustCompile(`(?i)^(#+) *(changelog|change log|changes|(release|version) (notes|history)|history|releases|what'?s new)\W*$`)
)

// sectionOfChanges returns the part of a README that lists changes, "" where none does.
func sectionOfChanges(text string) string {
	var b strings.Builder
	marks := ""
	for line := range strings.Lines(text) {
		switch m := section.FindStringSubmatch(strings.TrimSpace(line)); {
		case marks == "" && m != nil:
			marks = m[1]
		case marks == "":
		case strings.HasPrefix(line, "#") && !strings.HasPrefix(line, marks+"#") && len(headed(line)) == 0:
			return b.String()
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// about returns what a line of a list of changes says to be better, "" for none of that.
func about(item string) Improvement {
	switch {
	case leaks.MatchString(item) && !told.MatchString(item):
		return Leak
	case another.MatchString(item):
		return ""
	case cheaper.MatchString(item):
		return Time
	case costs.MatchString(item) && less.MatchString(item):
		return Memory
	}
	return ""
}

// findLines finds the lines of a list of changes that say, of a version after one and up to another, that it
// is better for most of some functions: one line for each subject.
func findLines(text, after, upTo string, spots []Spot, subjects []Improvement) []Change {
	list := make([]Change, len(subjects))
	for version, item := range items(text, after, upTo) {
		i := slices.Index(subjects, about(item))
		if i < 0 {
			continue
		}
		c := &list[i]
		words := word.FindAllString(item, -1)
		var of []int
		for i, s := range spots {
			if s.namedBy(item, words) {
				of = append(of, i)
			}
		}
		if len(of) > len(c.Of) {
			c.Said, c.Since, c.Of, c.About = shortened(item), version, of, subjects[i]
		}
	}
	return slices.DeleteFunc(list, func(c Change) bool { return c.Said == "" })
}

// items returns the changes of the versions after one and up to another, each with its version.
func items(text, after, upTo string) iter.Seq2[string, string] {
	return func(yield func(version, item string) bool) {
		within, item := "", "" // within is the version that the text is in, where it is one of them
		give := func() bool {
			done := item
			item = ""
			return done == "" || within == "" || yield(within, done)
		}
		enter := func(versions ...string) {
			within = ""
			if i := slices.IndexFunc(versions, func(v string) bool { return older(after, v) && !older(upTo, v) }); i >= 0 {
				within = "v" + versions[i]
			}
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, " \r\n")
			trimmed := strings.TrimLeft(line, " \t")
			switch versions := headed(line); {
			case dated.MatchString(line):
				if !give() {
					return
				}
				m := dated.FindStringSubmatch(line)
				enter(m[1])
				item = line[len(m[0]):]
			case len(versions) > 0:
				if !give() {
					return
				}
				enter(versions...)
			case trimmed == "":
				if !give() {
					return
				}
			case strings.HasPrefix(trimmed, "- "), strings.HasPrefix(trimmed, "* "), strings.HasPrefix(trimmed, "+ "):
				if !give() {
					return
				}
				item = strings.TrimSpace(trimmed[2:])
			case item == "":
				item = trimmed
			default:
				item += " " + trimmed
			}
		}
		give()
	}
}

// headed returns the versions of a heading: a line that begins as one, or with the version itself.
func headed(line string) (versions []string) {
	if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "=") && (len(line) > 60 || !versionWord.MatchString(firstWord(line))) {
		return nil
	}
	for _, m := range versionWord.FindAllStringSubmatch(line, -1) {
		versions = append(versions, m[1])
	}
	return versions
}

// firstWord returns how a heading without a mark begins, as "Version 1.4.3 (2018-03-09)" or "[1.2.0]".
func firstWord(line string) string {
	fields := strings.Fields(line)
	if len(fields) > 1 && slices.Contains([]string{"version", "release"}, strings.ToLower(fields[0])) {
		return fields[1]
	}
	if len(fields) == 0 || strings.HasPrefix(line, " ") || fields[0] == "-" || fields[0] == "*" {
		return ""
	}
	return fields[0]
}

const (
	// A name of fewer letters, or one that every package has, is no name of a function in a sentence.
	shortName = 4
	maxSaid   = 160
)

// usual are names that say nothing of which function it is.
var usual = []string{"String", "Error", "Close", "Write", "Read", "Reset", "Bytes", "Type", "Value", "Data", "Func", "Start", "Stop", "Next", "Path"}

// namedBy reports whether a change speaks of a function: by its name, its receiver's, or that of a
// package that is not the module's own, where it names nothing of that.
func (s *Spot) namedBy(item string, words []string) bool {
	names := strings.FieldsFunc(plain(s.Symbol), func(r rune) bool { return strings.ContainsRune(".-()*", r) })
	for i, n := range names {
		if i < 2 && len(n) >= shortName && !slices.Contains(usual, n) && !strings.HasPrefix(n, "func") && slices.Contains(words, n) && n != strings.ToLower(n) {
			return true
		}
	}
	base := path.Base(s.Dir)
	if s.Dir == "." || !utf8.ValidString(base) || regexp.MustCompile(`\b`+regexp.QuoteMeta(base)+`\.\pL`).MatchString(item) {
		return false
	}
	return ofPackage(base).MatchString(strings.ReplaceAll(item, "`", ""))
}

// ofPackage matches a change of all of a package: it begins with the name, or speaks of the package's
// performance. One of something in it names that behind a dot or a space.
func ofPackage(base string) *regexp.Regexp {
	const tag, path, end = `(?i)^(\W*\[\w+\]\W*)?`, `([\w.-]+/)*`, `( package)?( \(|,|\.?$|\. )`
	short := len(base) <= shortName // "log", "text" and "json" are words of any sentence
	base = path + regexp.QuoteMeta(base)
	if short {
		return regexp.MustCompile(tag + base + `: \w`)
	}
	return regexp.MustCompile(tag + base + `: \w|\b(performance|speed|efficiency) (of|in) (the )?` + base + end +
		`|\b(improv|optimi[sz])\w+ (the )?` + base + `('s)?( performance|` + end + `)`)
}

// shortened returns a change as a sentence can have it: its first words, without links.
func shortened(item string) string {
	item = strings.Join(strings.Fields(linked.ReplaceAllString(item, "$1")), " ")
	if utf8.RuneCountInString(item) <= maxSaid {
		return item
	}
	return string([]rune(item)[:maxSaid-1]) + "…"
}

// linked is a link of Markdown.
var linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
