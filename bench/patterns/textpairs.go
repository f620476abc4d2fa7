package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Text that is made, read, encoded and kept.

type person struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Mail string `json:"mail"`
}

type header struct {
	Kind, Flags uint16
	Length      uint32
	Stamp       int64
}

// stampText is a time in the seventh of the layouts.
const stampText = "2026-11-28T10:20:30Z"

// shortText has two of the codes.
const shortText = "the :code3: of the day is for all who are :code17: today"

// codePairs returns short codes, each with what stands for it.
func codePairs(n int) (pairs []string) {
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(":code%d:", i), strconv.Itoa(i))
	}
	return pairs
}

var codeReplacer = strings.NewReplacer(codes...)

var (
	somebody  = person{17, "somebody", "somebody@example.com"}
	elsewhere = person{17, "somebody", "somebody@example.org"}
	greeting  = template.Must(template.New("").Parse(greetingText))
	byNumber  = map[int]int{}
	byDigits  = map[string]int{}
	layouts   = []string{time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, time.StampMilli, time.RFC822, time.RFC3339, time.DateTime}
	key       = newKey()
	keyText   = textOf(key)
	byPair    = map[[2]string]int{}
	byJoined  = map[string]int{}
	page      = strings.Repeat("a line of some words that is read\n", 200)
	packet    = []byte{1, 0, 2, 0, 16, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}
	words     = regexp.MustCompile(`[a-z]+`)
	weekdays  = map[string]int{"mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6, "sun": 7}
	second    int64
	stamped   string
	codes     = codePairs(20)
	bigFile   = written(256 << 10)
	ten       = 10
)

const greetingText = `Dear {{.Name}}, your number is {{.ID}}.`

func init() {
	for i := range 200 {
		byNumber[i] = i
		byDigits[strconv.Itoa(i)] = i
		byPair[[2]string{names[i], "field"}] = i
		byJoined[names[i]+"/field"] = i
	}
}

// written returns the name of a file of some size.
func written(size int) string {
	f, err := os.CreateTemp("", "patterns")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil {
		panic(err)
	}
	return f.Name()
}

var texts = []pair{
	{model.RepeatedCall, "lowering a word once more",
		func() any { return len(strings.ToLower(query)) },
		func() any { return len(yes) + 6 }},
	{model.MapPerCall, "a map of seven words, for one look-up",
		func() any { return dayOf("thu") },
		func() any { return weekdays["thu"] }},
	{model.TemplatePerCall, "a text with two values", func() any {
		return rendered(template.Must(template.New("").Parse(greetingText)))
	}, func() any { return rendered(greeting) }},
	{model.FormatNow, "a time in seconds",
		func() any { return len(time.Now().Format(time.RFC3339)) },
		func() any { return len(formattedNow()) }},
	{model.FprintPlain, "a name and a number into a buffer", func() any {
		var b bytes.Buffer
		for i, w := range names {
			fmt.Fprintf(&b, "%s=%d\n", w, i)
		}
		return b.Len()
	}, func() any {
		var b bytes.Buffer
		for i, w := range names {
			b.WriteString(w)
			b.WriteString("=")
			b.WriteString(strconv.Itoa(i))
			b.WriteString("\n")
		}
		return b.Len()
	}},
	{model.NumberKey, "20 numbers", func() any {
		n := 0
		for i := range 20 {
			n += byDigits[strconv.Itoa(100+i)]
		}
		return n
	}, func() any {
		n := 0
		for i := range 20 {
			n += byNumber[100+i]
		}
		return n
	}},
	{model.ConcatKey, "20 pairs of names", func() any {
		n := 0
		for i := range 20 {
			n += byJoined[names[i]+"/"+field]
		}
		return n
	}, func() any {
		n := 0
		for i := range 20 {
			n += byPair[[2]string{names[i], field}]
		}
		return n
	}},
	{model.TextCompare, "two structs of three fields, as JSON", func() any {
		a, _ := json.Marshal(somebody)
		b, _ := json.Marshal(elsewhere)
		return bytes.Equal(a, b)
	}, func() any { return somebody == elsewhere }},
	{model.BinaryReflect, "a struct of 16 bytes", func() any {
		var h header
		_ = binary.Read(bytes.NewReader(packet), binary.LittleEndian, &h)
		return h.Length
	}, func() any {
		var h header
		h.Kind, h.Flags = binary.LittleEndian.Uint16(packet), binary.LittleEndian.Uint16(packet[2:])
		h.Length, h.Stamp = binary.LittleEndian.Uint32(packet[4:]), int64(binary.LittleEndian.Uint64(packet[8:]))
		return h.Length
	}},
	{model.LineAsString, "200 lines", func() any {
		n, sc := 0, bufio.NewScanner(strings.NewReader(page))
		for sc.Scan() {
			l := sc.Text()
			n += lookUp(l)
		}
		return n
	}, func() any {
		n, sc := 0, bufio.NewScanner(strings.NewReader(page))
		for sc.Scan() {
			n += counts[string(sc.Bytes())]
		}
		return n
	}},
	{model.MemoryReader, "a line of 20 fields", func() any {
		r := bufio.NewReader(strings.NewReader(line))
		field, _ := r.ReadString(',')
		return len(field)
	}, func() any {
		field, _, _ := strings.Cut(line, ",")
		return len(field) + 1
	}},
	{model.UnbufferedWrite, "200 lines, into nothing", func() any {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return nil
		}
		defer f.Close()
		for _, w := range names {
			_, _ = f.WriteString(w)
		}
		return len(names)
	}, func() any {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return nil
		}
		defer f.Close()
		b := bufio.NewWriter(f)
		for _, w := range names {
			_, _ = b.WriteString(w)
		}
		_ = b.Flush()
		return len(names)
	}},
	{model.ReadAllFile, "a file of 256 KB", func() any {
		f, err := os.Open(bigFile)
		if err != nil {
			return nil
		}
		defer f.Close()
		data, _ := io.ReadAll(f)
		return len(data)
	}, func() any {
		data, _ := os.ReadFile(bigFile)
		return len(data)
	}},
	{model.TextForLog, "a line with two values, not wanted",
		func() any { return logged(fmt.Sprintf("%s is %v", names[7], somebody.ID)) },
		func() any { return loggedLater("%s is %v", names[7], somebody.ID) }},
	{model.MadeUnasked, "a line with two values, and no failure",
		func() any { return stored(fmt.Sprintf("%s is %v", names[7], somebody.ID)) },
		func() any { return storedFirst("%s is %v", names[7], somebody.ID) }},
	{model.KeptCall, "a key of an elliptic curve, in PEM",
		func() any {
			block, _ := pem.Decode(keyText)
			k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			return err == nil && k.(*ecdsa.PrivateKey).Equal(key)
		},
		func() any { return key.Equal(key) }},
	{model.ReplacerPerCall, "twenty pairs, a line of some words",
		func() any { return strings.NewReplacer(codes...).Replace(shortText) },
		func() any { return codeReplacer.Replace(shortText) }},
	{model.TryEach, "the seventh of eight layouts",
		func() any {
			for _, layout := range layouts {
				if t, err := time.Parse(layout, stampText); err == nil {
					return t.Unix()
				}
			}
			return nil
		},
		func() any {
			t, err := time.Parse(layouts[6], stampText)
			if err != nil {
				return nil
			}
			return t.Unix()
		}},
	{model.FindAllFirst, "the first of 1,400 words",
		func() any { return words.FindAllString(page, -1)[0] },
		func() any { return words.FindString(page) }},
	{model.EncodeAny, "an object of three members", func() any {
		data, _ := json.Marshal(map[string]any{"id": somebody.ID, "name": somebody.Name, "mail": somebody.Mail})
		return len(data)
	}, func() any {
		data, _ := json.Marshal(&somebody)
		return len(data)
	}},
	{model.RunesInLoop, "each of 100 letters", func() any {
		n := 0
		for i := range 100 {
			n += int([]rune(line)[i])
		}
		return n
	}, func() any {
		n, runes := 0, []rune(line)
		for i := range 100 {
			n += int(runes[i])
		}
		return n
	}},
	{model.PowTen, "ten to a small power",
		func() any { return math.Pow(10, float64(ten)) == 1e10 },
		func() any { return math.Pow10(ten) == 1e10 }},
}

const field = "field"

//go:noinline
func dayOf(day string) int {
	return map[string]int{"mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6, "sun": 7}[day]
}

func rendered(t *template.Template) any {
	var b strings.Builder
	_ = t.Execute(&b, somebody)
	return b.Len()
}

// formattedNow keeps the text of a second.
func formattedNow() string {
	now := time.Now()
	if s := now.Unix(); s != second {
		second, stamped = s, now.Format(time.RFC3339)
	}
	return stamped
}

var verbose bool

//go:noinline
func logged(text string) any {
	if verbose {
		fmt.Println(text)
	}
	return verbose
}

//go:noinline
func loggedLater(format string, args ...any) any {
	if verbose {
		fmt.Printf(format, args...)
	}
	return verbose
}

var failure error

//go:noinline
func stored(text string) any {
	if failure != nil {
		return text
	}
	return 1
}

//go:noinline
func storedFirst(format string, args ...any) any {
	if failure != nil {
		return fmt.Sprintf(format, args...)
	}
	return 1
}

func newKey() *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return k
}

func textOf(k *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
