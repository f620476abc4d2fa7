package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A template is the page without data: what comes before the data and what after.
type template struct{ before, after []byte }

var (
	scriptTag = regexp.MustCompile(`(?i)<script\b[^>]*\bsrc="(?:\./)?([^"]+)"[^>]*>\s*</script>`)
	styleTag  = regexp.MustCompile(`(?i)<link\b[^>]*\brel="stylesheet"[^>]*\bhref="(?:\./)?([^"]+)"[^>]*>`)
	headTag   = regexp.MustCompile(`(?i)<head>`)
	bodyEnd   = regexp.MustCompile(`(?i)</body>`)
)

// inlineTemplate puts the page's script and style into its HTML, under a policy that
// names their hashes. The script stands at the end of the body, behind the data
// that it reads.
func (a *assets) inlineTemplate() (*template, error) {
	index := a.byPath["index.html"].data
	var scripts, styles [][]byte
	var scriptHashes, styleHashes []string
	for _, m := range scriptTag.FindAllSubmatch(index, -1) {
		f, ok := a.byPath[string(m[1])]
		if !ok {
			return nil, fmt.Errorf("the page has no file %s", m[1])
		}
		text := closeless(f.data, "script")
		scripts, scriptHashes = append(scripts, text), append(scriptHashes, hashOf(text))
	}
	for _, m := range styleTag.FindAllSubmatch(index, -1) {
		f, ok := a.byPath[string(m[1])]
		if !ok {
			return nil, fmt.Errorf("the page has no file %s", m[1])
		}
		text := closeless(f.data, "style")
		styles, styleHashes = append(styles, text), append(styleHashes, hashOf(text))
	}
	if len(scripts) == 0 || !headTag.Match(index) || !bodyEnd.Match(index) {
		return nil, errNoPage
	}
	rules := "default-src 'none'; script-src " + strings.Join(scriptHashes, " ") + "; img-src data: blob:; base-uri 'none'; form-action 'none'"
	if len(styleHashes) > 0 {
		rules += "; style-src " + strings.Join(styleHashes, " ")
	}
	index = scriptTag.ReplaceAllLiteral(index, nil)
	index = styleTag.ReplaceAllLiteral(index, nil)
	var head bytes.Buffer
	head.WriteString("<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"" + rules + "\">\n<meta name=\"referrer\" content=\"no-referrer\">")
	for _, s := range styles {
		head.WriteString("\n<style>")
		head.Write(s)
		head.WriteString("</style>")
	}
	at := headTag.FindIndex(index)
	index = slices.Concat(index[:at[0]], head.Bytes(), index[at[1]:])
	end := bodyEnd.FindAllIndex(index, -1)
	cut := end[len(end)-1][0]
	s := &template{before: index[:cut]}
	for _, text := range scripts {
		s.after = slices.Concat(s.after, []byte(`<script type="module">`), text, []byte("</script>\n"))
	}
	s.after = append(s.after, index[cut:]...)
	return s, nil
}

// closeless returns a script or a style in which nothing looks like its own end. In a
// string or a pattern, where alone it can stand, a backslash changes nothing.
func closeless(text []byte, element string) []byte {
	text = regexp.MustCompile(`(?i)</(`+element+`)`).ReplaceAll(text, []byte(`<\/$1`))
	return bytes.ReplaceAll(text, []byte("<!--"), []byte(`<\!--`))
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
