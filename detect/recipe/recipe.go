package recipe

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf16"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// Language is what the code is written in.
type Language string

// The languages.
const (
	Go     Language = "go"
	Python Language = "python"
	Node   Language = "node"
)

// Languages lists every language.
func Languages() []Language { return []Language{Go, Python, Node} }

// CopyPerSecond is how many items a second the code copies of the old key.
const CopyPerSecond = 100

// Attributes names those of the key, as far as they are known: the partition key is pk
// and the sort key sk when they are empty. WithoutSort says that there is no sort key.
type Attributes struct {
	Partition, Sort string
	WithoutSort     bool
}

// AttributesOf returns those of a key schema.
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

// For returns the code for the step of a finding that shards its key; false where no
// step does, or its names are not of text with the base in them, or the base is hidden:
// an application does not know its keys by their hashes.
func For(f *detect.Finding, attributes Attributes, language Language) (string, bool) {
	if keyhash.Find(f.Key) >= 0 {
		return "", false
	}
	for i := range f.Advice {
		if n := f.Advice[i].Names; n != nil && !n.Alone && len(f.KeyType) <= 1 {
			return write(f, n, attributes, language), true
		}
	}
	return "", false
}

// write fills the language's template.
func write(f *detect.Finding, n *detect.ShardNames, a Attributes, language Language) string {
	if a.Partition == "" {
		a.Partition = "pk"
	}
	if a.Sort == "" && !a.WithoutSort {
		a.Sort = "sk"
	}
	added := f.KeyType == "N" || f.KeyType == "B"
	if added {
		a.Partition += "_shard"
	}
	name := string(language)
	if n.Suffix == detect.SuffixCounter {
		name += "-counter"
	}
	quote := quoted
	if language == Node {
		quote = quotedUTF16
	}
	t := template.Must(template.New(name+".tmpl").Funcs(template.FuncMap{"quote": quote}).ParseFS(files, "code/"+name+".tmpl"))
	var out strings.Builder
	err := t.Execute(&out, map[string]any{
		"Table": f.Table, "Index": f.Index, "Base": n.Base, "Old": f.Key, "Shards": n.Shards,
		"Before": n.Before, "After": n.After, "Prefix": n.Prefix, "Calculated": n.Suffix == detect.SuffixCalculated,
		"PK": a.Partition, "SK": a.Sort, "Added": added, "PerSecond": CopyPerSecond,
	})
	if err != nil {
		panic(fmt.Sprintf("recipe: %v", err)) // a template of this package
	}
	return out.String()
}

// quoted writes text as Go and Python read it, in ASCII.
func quoted(text string) string { return strconv.QuoteToASCII(text) }

// quotedUTF16 writes text as JavaScript reads it, in ASCII.
func quotedUTF16(text string) string {
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
