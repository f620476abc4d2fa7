package pattern

import (
	"go/ast"
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The functions that only a compressor that is made, and not one that is reset, goes through.
const (
	flateWriter = "compress/flate.NewWriter"
	flateReader = "compress/flate.NewReader"
)

// The functions that an encoder or decoder of package gob goes through for each type once in
// its life.
const (
	gobDescribes = "encoding/gob.(*Encoder).sendType"
	gobReads     = "encoding/gob.(*Decoder).recvType"
	gobCompiles  = "encoding/gob.(*Decoder).getDecEnginePtr"
)

// replacerBuilds is the function that a replacer goes through once in its life, at its first use.
const replacerBuilds = "strings.(*Replacer).build"

// The functions that an image of a type which package draw, or the encoder, does not know goes through.
const (
	drawsPixels  = "image/draw.drawRGBA"
	encodePixels = "image/jpeg.toYCbCr"
)

// ofPackage stands for any function that is not of the standard library.
const ofPackage = "*"

// templateNames are the functions that parse a template.
var templateNames = []string{
	"text/template.(*Template).Parse", "html/template.(*Template).Parse",
	"text/template.ParseFiles", "html/template.ParseFiles", "text/template.ParseGlob", "html/template.ParseGlob",
}

// makesMap are the functions that making a map and filling it goes through.
var makesMap = []string{"runtime.mapassign", "runtime.makemap", "runtime.mapinit", "internal/runtime/maps."}

// A pattern is one line of the catalogue.
type pattern struct {
	name model.Pattern
	// callees are the functions that the cost is under, or beginnings of their names; "" is
	// the line itself, and so is what the compiler makes of operators.
	callees []string
	match   func(*site, node) *match
}

// catalogue is all of them. Where two hold the first is said, which is the more special.
var catalogue = []pattern{
	{model.ReplacerPerCall, []string{replacerBuilds}, (*site).replacerPerCall},
	{model.ImagePixels, []string{drawsPixels, encodePixels}, (*site).imagePixels},
	{model.RegexpPerCall, []string{"regexp.Compile", "regexp.MustCompile", "regexp.Match"}, (*site).constantFirst},
	{model.SprintfKey, []string{"fmt.Sprint"}, (*site).textKey},
	{model.NumberKey, []string{"strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint"}, (*site).numberKey},
	{model.KeyInCompare, pureNames(), (*site).keyInCompare},
	{model.KeyInCompare, []string{ofPackage}, (*site).ownKeyInCompare},
	{model.TextCompare, []string{"fmt.Sprint", "encoding/json.Marshal", "strconv.Itoa"}, (*site).textCompare},
	{model.TextForLog, slices.Concat(pureNames(), namesOf(makers), []string{"fmt.Sprint", "strings.Join", ofPackage}), (*site).textForLog},
	{model.MadeUnasked, slices.Concat(pureNames(), namesOf(makers), []string{ofPackage}), (*site).madeUnasked},
	{model.InvariantCall, append(pureNames(), ofPackage, "time.Time.Format"), (*site).invariantCall},
	{model.ErrorPerCall, []string{"errors.New", "fmt.Errorf"}, (*site).constantError},
	{model.ConstantCall, pureNames(), (*site).constantCall},
	{model.KeptCall, append(namesOf(parsers), ofPackage), (*site).keptCall},
	{model.ReadStored, append(namesOf(parsers), "encoding/json.Unmarshal", "encoding/xml.Unmarshal", ofPackage), (*site).readStored},
	{model.DerivedPerCall, slices.Concat(pureNames(), namesOf(parsers), namesOf(makers), []string{ofPackage}), (*site).derivedPerCall},
	{model.TryEach, []string{"time.Parse", "time.ParseInLocation"}, (*site).tryEach},
	{model.SweepPerCall, []string{ofPackage, "", "internal/runtime/maps.", "runtime.mapiternext", "maps.DeleteFunc", "slices.DeleteFunc"}, (*site).sweepPerCall},
	{model.SearchGrown, searchNames(), (*site).searchGrown},
	{model.CountPrefix, []string{"", "strings.Count", "bytes.Count", "unicode/utf8.RuneCount", "internal/bytealg.Count"}, (*site).countPrefix},
	{model.TimeSteps, []string{"", "time.Time.", "time.abs", ofPackage}, (*site).timeSteps},
	{model.SwapSort, []string{"", "cmp.Compare", "strings.Compare", "cmpbody", "runtime.cmpstring", ofPackage}, (*site).swapSort},
	{model.SkipOffset, []string{""}, (*site).skipOffset},
	{model.SearchKept, []string{"", "memeqbody", "runtime.memequal", "runtime.strequal"}, (*site).searchNested},
	{model.ContextChain, []string{"context.(*valueCtx).Value", "context.value"}, (*site).contextChain},
	{model.ColumnMajor, []string{""}, (*site).columnMajor},
	{model.RegexpLiteral, []string{"regexp.(*Regexp).Match"}, (*site).regexpLiteral},
	{model.RegexpWords, []string{"regexp.(*Regexp).Match", "regexp.(*Regexp).Find", "regexp.(*Regexp).ReplaceAll"}, (*site).regexpWords},
	{model.PreparePerCall, []string{"database/sql.(*DB).Prepare", "database/sql.(*Conn).Prepare", "database/sql.(*Tx).Prepare"}, (*site).preparePerCall},
	{model.TagsPerValue, []string{"reflect.StructTag.Get", "reflect.StructTag.Lookup"}, (*site).tagsPerValue},
	{model.PowSmall, []string{"math.Pow", "math.pow"}, (*site).powSmall},
	{model.PowTen, []string{"math.Pow", "math.pow"}, (*site).powTen},
	{model.RunesInLoop, []string{"runtime.stringtoslicerune", "runtime.stringtoslicebyte"}, (*site).runesInLoop},
	{model.RuneRange, []string{"runtime.stringtoslicerune"}, (*site).runeRange},
	{model.SprintfSimple, []string{"fmt.Sprintf", "fmt.Sprint"}, (*site).simpleFormat},
	{model.FprintPlain, []string{"fmt.Fprint"}, (*site).fprintPlain},
	{model.ScanText, []string{"fmt.Sscan"}, (*site).scanText},
	{model.LowerCompare, []string{"strings.ToLower", "strings.ToUpper"}, (*site).lowerCompare},
	{model.SplitFirst, []string{"strings.Split", "bytes.Split"}, (*site).splitFirst},
	{model.SplitCount, []string{"strings.Split", "bytes.Split"}, (*site).splitCount},
	{model.SplitRange, []string{"strings.Split", "bytes.Split", "strings.Fields", "bytes.Fields"}, (*site).splitRange},
	{model.ConcatKey, []string{"runtime.concatstring"}, (*site).concatKey},
	{model.ConcatLoop, []string{"runtime.concatstring"}, (*site).concatLoop},
	{model.GrowKnown, []string{"runtime.growslice"}, (*site).growKnown},
	{model.ShiftFront, []string{"runtime.growslice", "runtime.memmove", "slices.Insert", "slices.Delete", "runtime.typedslicecopy", "runtime.bulkBarrierPreWrite"}, (*site).shiftFront},
	{model.ShiftRest, []string{"runtime.memmove", "runtime.typedslicecopy", "runtime.bulkBarrierPreWrite", "runtime.growslice", "slices.Insert", "slices.Delete"}, (*site).shiftRest},
	{model.StringKey, []string{"runtime.slicebytetostring"}, (*site).stringKey},
	{model.BytesConversion, []string{"runtime.slicebytetostring"}, (*site).stringOfBytes},
	{model.BytesConversion, []string{"runtime.stringtoslicebyte"}, (*site).bytesOfString},
	{model.TextCompare, []string{ofPackage}, (*site).ownTextCompare},
	{model.SortAppend, []string{"sort.", "slices.Sort"}, (*site).sortAppend},
	{model.SortPerCall, []string{"sort.", "slices.Sort"}, (*site).sortPerCall},
	{model.SortChanged, []string{"sort.", "slices.Sort"}, (*site).sortChanged},
	{model.SortForOne, []string{"sort.", "slices.Sort"}, (*site).sortForOne},
	{model.SortSlice, []string{"sort.Slice"}, (*site).sortSlice},
	{model.SearchInLoop, []string{"slices.Contains", "slices.Index"}, (*site).containsInLoop},
	{model.SearchInLoop, []string{"", "memeqbody", "runtime.memequal", "runtime.strequal", "runtime.efaceeq", "runtime.ifaceeq"}, (*site).searchInLoop},
	{model.SearchKept, []string{"", "memeqbody", "runtime.memequal", "runtime.strequal", "runtime.efaceeq", "runtime.ifaceeq"}, (*site).searchKept},
	{model.LeastTaken, slices.Concat(selecting, []string{"cmp.Compare", "strings.Compare", "cmpbody", "runtime.cmpstring"}), (*site).leastTaken},
	{model.SearchInLoop, selecting, (*site).selectInLoop},
	{model.SearchKept, selecting, (*site).selectKept},
	{model.TotalPerCall, selecting, (*site).totalPerCall},
	{model.BufferPerCall, []string{"runtime.makeslice"}, (*site).bufferPerCall},
	{model.CopyLoop, []string{"", "runtime.growslice"}, (*site).copyLoop},
	{model.MapRows, append([]string{"runtime.convT"}, makesMap...), (*site).mapRows},
	{model.MapPerCall, makesMap, (*site).mapPerCall},
	{model.MapTwice, []string{"runtime.mapaccess", "internal/runtime/maps."}, (*site).mapTwice},
	{model.IndexPerCall, []string{"", "runtime.mapassign", "internal/runtime/maps.", "runtime.mapaccess", "runtime.growslice"}, (*site).indexPerCall},
	{model.MapGrowKnown, []string{"runtime.mapassign", "internal/runtime/maps.mapassign"}, (*site).mapGrowKnown},
	{model.CloneRead, []string{"slices.Clone", "maps.Clone", "maps.clone", "bytes.Clone", "runtime.growslice"}, (*site).cloneRead},
	{model.CopyToRead, []string{ofPackage}, (*site).copyToRead},
	{model.CopyByJSON, []string{"encoding/json.Marshal", "encoding/json.Unmarshal"}, (*site).copyByJSON},
	{model.RetypeByJSON, []string{"encoding/json.Marshal", "encoding/json.Unmarshal"}, (*site).retypeByJSON},
	{model.BoxedHeap, []string{"container/heap.Push", "container/heap.Pop"}, func(s *site, n node) *match { return s.whole(s.call(n)) }},
	{model.StackPerCall, []string{"runtime/debug.Stack"}, (*site).stackPerCall},
	{model.DecodeAny, []string{"encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode"}, (*site).decodeAny},
	{model.EncodeAny, []string{"encoding/json.Marshal", "encoding/json.(*Encoder).Encode"}, (*site).encodeAny},
	{model.FreshCodec, []string{flateWriter, flateReader}, (*site).freshCodec},
	{model.FreshGob, []string{gobDescribes, gobReads, gobCompiles}, (*site).freshGob},
	{model.RandomPerItem, []string{"crypto/rand.Int"}, (*site).randomPerItem},
	{model.ClockInLoop, []string{"time.Now", "time.Since", "time.Until"}, (*site).clockInLoop},
	{model.TimerInLoop, []string{"time.After"}, (*site).timerInLoop},
	{model.DeferInLoop, []string{"runtime.deferproc"}, (*site).deferInLoop},
	{model.DeepEqual, []string{"reflect.DeepEqual"}, func(s *site, n node) *match { return s.whole(s.call(n)) }},
	{model.TemplatePerCall, templateNames, (*site).constantFirst},
	{model.FormatNow, []string{"time.Time.Format"}, (*site).formatNow},
	{model.BinaryReflect, []string{"encoding/binary.Read", "encoding/binary.Write"}, (*site).binaryReflect},
	{model.LineAsString, []string{"bufio.(*Scanner).Text"}, (*site).lineAsString},
	{model.MemoryReader, []string{"bufio.NewReader"}, (*site).memoryReader},
	{model.UnbufferedWrite, []string{"os.(*File).Write", "fmt.Fprint", "io.WriteString"}, (*site).unbufferedWrite},
	{model.ReadAllFile, []string{"io.ReadAll", "io/ioutil.ReadAll"}, (*site).readAllFile},
	{model.FindAllFirst, []string{"regexp.(*Regexp).FindAll"}, (*site).findAllFirst},
	{model.FNVObject, []string{"hash/fnv."}, (*site).fnvObject},
	{model.FinalizerPerObject, []string{"runtime.SetFinalizer"}, (*site).finalizerPerObject},
	{model.ListQueue, []string{"container/list.(*List).Push", "container/list.(*List).Remove"}, (*site).listQueue},
	{model.TreeSearch, []string{ofPackage}, (*site).treeSearched},
	{model.RecursionAgain, []string{ofPackage}, (*site).recursionAgain},
	{model.RepeatedCall, append(pureNames(), "net/url.(*URL).Query"), (*site).repeatedCall},
	{model.RepeatedCall, append(pureNames(), "net/url.(*URL).Query"), (*site).repeatedThrough},
	{model.RepeatedCall, append(namesOf(parsers), ofPackage), (*site).remadeThrough},
	{model.CheckedAgain, []string{ofPackage}, (*site).checkedAgain},
	{model.KeyTooFine, append(namesOf(parsers), ofPackage, "encoding/json.Unmarshal"), (*site).keyTooFine},
	{model.MissedCache, append(namesOf(parsers), ofPackage, "encoding/json.Unmarshal"), (*site).missedCache},
	{model.MadeBelow, slices.Concat(namesOf(parsers), namesOf(makers), pureNames(), []string{ofPackage}), (*site).madeBelow},
	{model.MadeToSearch, []string{ofPackage}, (*site).madeToSearch},
	{model.NestedMarshal, []string{"encoding/json.Marshal"}, (*site).nestedMarshal},
	{model.RangeCopy, []string{"", "runtime.duffcopy", "runtime.memmove", "runtime.typedmemmove"}, (*site).rangeCopy},
}

// whole returns a match of a call, nil for none.
func (s *site) whole(call *ast.CallExpr) *match {
	if call == nil {
		return nil
	}
	return &match{at: call}
}

// pure are functions of the standard library whose result depends on nothing but their
// arguments, and is a value or may be shared, by package.
var pure = map[string][]string{
	"regexp": {"Compile", "MustCompile", "QuoteMeta"},
	"strings": {"ToLower", "ToUpper", "ToTitle", "TrimSpace", "Trim", "TrimLeft", "TrimRight", "TrimPrefix", "TrimSuffix", "Split", "SplitN",
		"Fields", "Replace", "ReplaceAll", "Repeat", "Count", "Index", "LastIndex", "Contains", "NewReplacer", "ToValidUTF8"},
	"strconv":       {"Itoa", "FormatInt", "FormatUint", "FormatFloat", "Quote", "Unquote", "Atoi", "ParseInt", "ParseUint", "ParseFloat", "ParseBool"},
	"time":          {"LoadLocation", "Parse", "ParseDuration"},
	"fmt":           {"Sprintf", "Sprint", "Sprintln"},
	"path":          {"Join", "Clean", "Base", "Dir", "Ext"},
	"path/filepath": {"Join", "Clean", "Base", "Dir", "Ext", "Match"},
	"net/url":       {"Parse", "ParseQuery", "QueryEscape", "PathEscape", "QueryUnescape"},
	"net":           {"ParseCIDR", "ParseIP"},
	"net/netip":     {"ParseAddr", "MustParseAddr", "ParsePrefix", "MustParsePrefix"},
	"os":            {"Getenv", "LookupEnv"}, // of a constant: who changes it does so at the start
	"html":          {"EscapeString", "UnescapeString"},
}

// pureNames returns their names as stacks have them.
func pureNames() (list []string) {
	for pkg, names := range pure {
		for _, name := range names {
			list = append(list, pkg+"."+name)
		}
	}
	return list
}
