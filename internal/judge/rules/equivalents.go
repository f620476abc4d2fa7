package rules

import "github.com/gowhy/gowhy/internal/know/model"

// equivalents say for each pattern what to write in its place.
var equivalents = []equivalent{
	{model.RegexpPerCall, "compiling the same regular expression for each call",
		"Compile the expression once, in a variable of the package: a compiled expression may be used by all goroutines " +
			"at once. " +
			"regexp.MatchString and its sisters compile it for every call.",
		"var pattern = regexp.MustCompile(`…`) // at package level",
		"an expression that changes: it is a constant"},
	{model.ConstantCall, "making the same value from constants for each call",
		"Make it once, in a variable of the package: nothing that the call is given ever changes.",
		"var kept = … // at package level",
		"an argument that changes: all are constants"},
	{model.InvariantCall, "making the same call in each round of a loop",
		"Call it once before the loop and keep the result: what it is given does not change in the loop.", "",
		"an argument that changes in the loop: nothing writes to them there, in a function literal, or, of fields, " +
			"anywhere in the package"},
	{model.SprintfSimple, "formatting what + and strconv join",
		"Join them with + and strconv: fmt reads the format for each call, and looks into the type of each value.", "",
		"a format that does more: it has only %s, %d and %v, of values without methods"},
	{model.SprintfKey, "making text only to look something up",
		"Use the values themselves as the key: a struct or an array of them is a key of a map, and no text is made.",
		"type key struct{ x, y int } // instead of fmt.Sprintf(\"%d,%d\", x, y)",
		"text that is wanted: it is a key of a map, and nothing else"},
	{model.ConcatLoop, "copying a string for each piece that is added to it",
		"Append to a strings.Builder, or to a []byte that is kept: s += piece copies all that is there already.",
		"var b strings.Builder\nfor … {\n\tb.WriteString(piece)\n}\ns := b.String()",
		"a string that the loop looks at: it only adds to it"},
	{model.GrowKnown, "growing a slice step by step to a size that is known",
		"Make it with its final size as capacity: the loop appends once in each round, and the number of rounds is known " +
			"before it.", "",
		"a size that nobody knows: each round of the loop appends"},
	{model.BytesConversion, "converting between bytes and text for one call",
		"Call the function that takes what is there: packages bytes and strings have the same functions, and " +
			"io.WriteString spares " +
			"the copy where the writer has a method WriteString.", "",
		"a copy that the compiler leaves out: the stacks show it, and the call keeps nothing of it"},
	{model.StringKey, "copying bytes into a string only to look it up",
		"Convert inside of the index: m[string(b)] looks up without a copy, a variable in between makes one.",
		"v, ok := m[string(b)]",
		"a string that is kept: it is looked up, and nothing else"},
	{model.SplitFirst, "cutting a text into all fields for one or two",
		"strings.Cut finds the first separator and makes nothing; for the last field strings.LastIndex does.",
		"field, rest, ok := strings.Cut(line, \",\")",
		"a use of the other fields: there is none"},
	{model.SplitCount, "cutting a text into fields to count them",
		"Count the separators instead: no list is made.", "",
		"a use of the fields: the code wants only their number"},
	{model.SplitRange, "making a list of fields to walk over it once",
		"Walk over the fields as they are found: since Go 1.24 strings and bytes have SplitSeq and FieldsSeq, which make " +
			"no list.", "",
		"a use of the list or of an index: there is none"},
	{model.SortAppend, "sorting a list again after each new element",
		"Sort once when all are there; where it must be in order all the time, find the place with slices.BinarySearch " +
			"and insert there, " +
			"or keep a heap.",
		"at, _ := slices.BinarySearch(list, v)\nlist = slices.Insert(list, at, v)",
		"a list that is new: one element is appended right before it is sorted"},
	{model.SearchInLoop, "searching through a list for each of many",
		"Put the list into a map before the loop, and look up in each round: the work grows with the sum of both lengths " +
			"and not with " +
			"their product.",
		"known := make(map[string]bool, len(list))\nfor _, v := range list {\n\tknown[v] = true\n}",
		"a short list or one that is another in each round: it is not written down with its elements, and the loop does " +
			"not change it but by appending"},
	{model.DecodeAny, "decoding into a map of any for a few known members",
		"Decode into a struct with the members that are read: what is not in it is skipped, and no map and no values in " +
			"interfaces are made.",
		"var v struct {\n\tName string `json:\"name\"`\n}",
		"members that only the data know: all that is read of it has constant names"},
	{model.FreshCodec, "making a compressor for each call",
		"Keep it in a sync.Pool and Reset it for each call: a new one allocates and clears some hundred kilobytes before " +
			"it packs a byte.",
		"z := pool.Get().(*gzip.Writer)\nz.Reset(w)\n…\nz.Close()\npool.Put(z)",
		"the packing itself: only the making of it is counted"},
	{model.ClockInLoop, "asking the clock in each round whether to go on",
		"Ask it once in a hundred rounds, or let a timer set a flag or close a context.",
		"if i%128 == 0 && time.Now().After(deadline) {",
		"times that are kept: they only decide whether the loop goes on"},
	{model.TimerInLoop, "making a timer for each round of a loop",
		"Make one ticker before the loop, and when it fires look whether anything came since it last did: a timer that is " +
			"made or reset in each round costs more than the round.",
		"t := time.NewTicker(patience)\nfor {\n\tselect {\n\tcase v := <-in:\n\t\tcame = true\n\tcase <-t.C:\n\t\tif !came { … }\n\t\tcame = false",
		"a loop that leaves after one round"},
	{model.DeferInLoop, "deferring a call in each round of a loop",
		"Put the body of the loop into a function of its own: what is deferred is then done at the end of each round, " +
			"and needs no memory.",
		"for … {\n\tfunc() {\n\t\tmu.Lock()\n\t\tdefer mu.Unlock()\n\t\t…\n\t}()\n}",
		"a defer of a function literal in the loop, which runs in each round"},
	{model.RangeCopy, "copying each large element of a list to read a field",
		"Walk by index and read the field where it is.",
		"for i := range list {\n\tr := &list[i]",
		"a copy that is needed: only fields of it are read"},
	{model.DeepEqual, "comparing by reflection",
		"Compare with ==, slices.Equal, maps.Equal, or a method that compares what matters: reflect.DeepEqual looks into " +
			"the type of every part.",
		"slices.Equal(a, b)",
		"another function of that name: the stacks show package reflect"},
	{model.ScanText, "reading numbers and words with fmt.Sscan",
		"Use strconv, after strings.Cut or strings.Fields where there are several: fmt reads the format and each rune " +
			"through interfaces.",
		"n, err := strconv.Atoi(s)",
		"other values: all are numbers or texts"},
	{model.LowerCompare, "changing the case of text to compare it",
		"strings.EqualFold compares without making another text.", "",
		"a text that is wanted in lower case: it is compared, and nothing else"},
	{model.RegexpLiteral, "matching an expression without operators",
		"Look for the text itself: strings.Contains, HasPrefix, HasSuffix and == find it " +
			"many times faster than a regular expression.", "",
		"an expression that does more: it is a constant without operators, and the variable is never set again"},
	{model.SortSlice, "sorting with sort.Slice",
		"slices.SortFunc does the same without reflection: it swaps the elements itself and passes them to the comparison.",
		"slices.SortFunc(list, func(a, b T) int { return cmp.Compare(a.key, b.key) })",
		"an older Go: this one has package slices"},
	{model.RuneRange, "making a list of runes to walk over it once",
		"Walk over the string itself: range gives its runes and makes no list.", "",
		"a use of the list or of an index: there is none"},
	{model.ErrorPerCall, "making the same error for each call",
		"Make the error once, in a variable of the package, and return that: who calls can then compare it with errors.Is, too.",
		"var errNegative = errors.New(\"negative\") // at package level",
		"a text that changes: it is a constant"},
	{model.CopyLoop, "copying elements one by one",
		"copy moves them in blocks, and append with ... makes room once.", "",
		"a loop that does more: it has this one statement, and the elements are of one type"},
	{model.PowSmall, "math.Pow for a square or a cube",
		"Multiply: math.Pow takes logarithms apart for any exponent.", "",
		"another exponent: it is the constant 2 or 3"},
	{model.MapGrowKnown, "growing a map step by step to a size that is known",
		"Make it with the number of its elements: the loop adds one in each round, and the number of rounds is known before it.", "",
		"a size that nobody knows: each round of the loop sets an element, of what may be the same key"},
	{model.CopyByJSON, "copying a value through JSON",
		"Copy it in code: assign the struct, and clone the slices and maps in it (slices.Clone, maps.Clone). Where nobody " +
			"changes the copy, none is needed.",
		"copied := *original\ncopied.List = slices.Clone(original.List)",
		"text that is wanted: it is decoded into the same type, and nothing else"},
	{model.BoxedHeap, "passing the elements of a heap through interfaces",
		"Write push and pop for the type of the elements, or take a generic heap: container/heap passes each element as any, " +
			"which is an object for each, and compares and swaps by methods of an interface.", "",
		"another function of that name: the stacks show package container/heap"},
	{model.StackPerCall, "taking a stack as text",
		"Take no stack where failing is usual: an error that says what failed is made in a hundredth of the time. " +
			"Stacks are for panics and for what should never happen.", "",
		"a panic: nothing in the function recovers from one"},
	{model.ShiftFront, "moving a whole list for one element at its front",
		"Take from the front by reslicing (q = q[1:]), or keep where the front is in a ring; add at the end and walk " +
			"backwards, or " +
			"reverse once when all are there.",
		"v := q[0]\nq = q[1:] // moves nothing",
		"an element in the middle: it is the first"},
}
