package recipe

import (
	"embed"
	"fmt"
	"go/format"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf16"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// Language is a programming language.
type Language string

// The languages.
const (
	Go     Language = "go"
	Python Language = "python"
	Node   Language = "node"
)

// Languages lists every language.
func Languages() []Language { return []Language{Go, Python, Node} }

// copyPerSecond is the number of items a second that the code copies to each shard. A
// move to another key takes a transaction at twice the write units, so the code then
// copies half as many.
const copyPerSecond = 100

// Attributes names the attributes of the key, as far as they are known. For empty ones
// the code has marked examples. WithoutSort means that there is no sort key. Table names
// the attributes of the table's own key if the key is an index's.
type Attributes struct {
	Partition, Sort string
	WithoutSort     bool
	Table           []string
}

// AttributesOf returns the attributes of a key schema.
func AttributesOf(k sample.KeySchema) (a Attributes) {
	if len(k.PartitionKey) > 0 {
		a.Partition = k.PartitionKey[0]
	}
	if len(k.SortKey) > 0 {
		a.Sort = k.SortKey[0]
	}
	a.WithoutSort = k.SortKey != nil && len(k.SortKey) == 0
	return a
}

//go:embed code/*.tmpl
var files embed.FS

// Code returns the code for the step of a finding that shards its key. It returns false
// if no step does, or if its shard names are not text around the base. It also returns
// false for a hidden base: an application does not know its keys by their hashes. A table
// whose Regions are strongly consistent takes no transactions, and the code would move
// items by them: it gets none.
func Code(f *detect.Finding, attributes Attributes, language Language) (string, bool) {
	strong := slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Arguments.Strong })
	if keyhash.Find(string(f.Key)) >= 0 {
		return "", false
	}
	for i := range f.Advice {
		if n := f.Advice[i].Names; n != nil && !n.Alone && len(f.KeyType) <= 1 {
			if strong && f.Index == "" && n.Suffix != detect.SuffixCounter {
				return "", false
			}
			return write(f, n, attributes, language), true
		}
	}
	return "", false
}

// example marks an unknown name in the code.
const example = "an example: change it"

func write(f *detect.Finding, n *detect.ShardNames, a Attributes, language Language) string {
	data := map[string]any{
		"Table": f.Table, "OldTable": f.Table, "NewTable": "", "Index": f.Index, "Base": string(n.Base), "Old": string(f.Key), "OldNote": "", "OldType": f.KeyType, "Shards": n.Shards,
		"Numbers": n.Numbers, "Cuts": n.Cuts, "Before": string(n.Before), "After": string(n.After), "Prefix": n.Prefix, "Calculated": n.Suffix == detect.SuffixCalculated,
		"Reads": f.InReads() && f.Index == "", "Moves": !f.InReads() && f.Index == "",
	}
	prefix, pkNote, skNote, tableNote := "", "", "", ""
	if f.Index != "" {
		prefix = "gsi_" // the item has the table's own key, too
	}
	if a.Partition == "" {
		a.Partition, pkNote = prefix+"pk", example
	}
	if a.Sort == "" && !a.WithoutSort {
		a.Sort, skNote = prefix+"sk", example
	}
	if len(a.Table) == 0 {
		a.Table, tableNote = []string{"pk", "sk"}, "the table's own key; "+example
	}
	data["OldPK"], data["OldPKNote"] = a.Partition, pkNote
	if added := f.KeyType == "N" || f.KeyType == "B"; added || f.Index != "" {
		a.Partition, pkNote = a.Partition+"_shard", "a new attribute of type S"
		if f.Index == "" {
			data["Table"], data["NewTable"] = f.Table+"_shards", "a new table, since the key has another type: make it"
			if n.Suffix == detect.SuffixCounter {
				data["NewTable"] = "a new table, since the key has another type: make it, with what the old item has under its old key"
			}
		}
	}
	if f.KeyType == "B" {
		data["OldNote"] = "as Keyheat shows it: give its bytes"
	}
	data["PK"], data["PKNote"], data["SK"], data["SKNote"] = a.Partition, pkNote, a.Sort, skNote
	data["TableKey"], data["TableKeyNote"] = a.Table, tableNote
	data["PerSecond"] = copyPerSecond / 2
	if f.Index != "" {
		data["PerSecond"] = copyPerSecond
	}
	name := string(language)
	if n.Suffix == detect.SuffixCounter {
		name += "-counter"
	}
	comment, quote := " // ", strconv.QuoteToASCII // for Go and Python
	switch language {
	case Node:
		quote = quoteUTF16
	case Python:
		comment = "  # "
	}
	functions := template.FuncMap{"quote": quote, "list": func(all []int) string { return strings.ReplaceAll(fmt.Sprint(all), " ", ", ") }, "note": func(text string) string {
		if text == "" {
			return ""
		}
		return comment + text
	}}
	t := template.Must(template.New(name+".tmpl").Funcs(functions).ParseFS(files, "code/"+name+".tmpl"))
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		panic(fmt.Sprintf("recipe: %v", err)) // a template of this package
	}
	if language != Go {
		return out.String()
	}
	formatted, err := format.Source([]byte(out.String()))
	if err != nil {
		panic(fmt.Sprintf("recipe: %v", err)) // a template of this package
	}
	return string(formatted)
}

func quoteUTF16(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < ' ' || unit > '~' || unit == '"' || unit == '\\' {
			fmt.Fprintf(&out, `\u%04x`, unit)
		} else {
			out.WriteByte(byte(unit))
		}
	}
	out.WriteByte('"')
	return out.String()
}
