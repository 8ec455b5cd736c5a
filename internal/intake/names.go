package intake

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample/mapped"
)

// Names are the names of a line's fields: columns, or dotted paths in JSON.
type Names []string

const maxNames = 12

// fieldsOf returns the names in the JSON object at a line's beginning, in order; from an
// object that is cut off, the readable ones. Lists have no names.
func fieldsOf(line []byte) (names Names) {
	d := json.NewDecoder(bytes.NewReader(line))
	var add func(path string) bool // reports whether a whole value was read
	add = func(path string) bool {
		token, err := d.Token()
		switch token {
		case json.Delim('{'):
			for d.More() {
				name, _ := d.Token()
				text, _ := name.(string)
				if !add(join(path, text)) {
					return false
				}
			}
		case json.Delim('['):
			for kept := names; d.More(); names = kept {
				if !add("") {
					names = kept
					return false
				}
			}
		default:
			if err == nil && path != "" {
				names = append(names, path)
			}
			return err == nil
		}
		_, err = d.Token()
		return err == nil
	}
	add("")
	return names
}

// join returns the path of a field of an object. DynamoDB's JSON wraps the value of a key in
// an object with the name of a type.
func join(path, name string) string {
	if path == "" {
		return name
	}
	if name == "S" || name == "N" || name == "B" {
		return path
	}
	return path + "." + name
}

// has reports whether there is a field, or an object, of that name at the top.
func (n Names) has(name string) bool {
	return slices.ContainsFunc(n, func(of string) bool { return of == name || strings.HasPrefix(of, name+".") })
}

// String lists the names for a person.
func (n Names) String() string {
	shown := n[:min(len(n), maxNames)]
	text := wording.Printable(strings.Join(shown, ", "))
	if len(n) > len(shown) {
		text += ", …"
	}
	return text
}

// synonyms are other people's names of the fields that a sample needs, the likeliest
// first, in lower case and without word separators.
var synonyms = []struct {
	field string
	names []string
}{
	{"ts", []string{"ts", "timestamp", "time", "eventtime", "datetime", "date", "requesttime", "starttime", "when", "at", "createdat", "t", "zeit", "zeitpunkt", "zeitstempel", "datum"}},
	{"table", []string{"table", "tablename", "dynamodbtable", "ddbtable", "dynamotable", "tbl", "tblname", "ddbtbl"}},
	{"pk", []string{"pk", "partitionkey", "hashkey", "hash", "key", "partition", "itemkey", "id"}},
	{"sk", []string{"sk", "sortkey", "rangekey", "range"}},
	{"op", []string{"op", "operation", "operationname", "action", "method", "command", "eventname", "api", "verb", "type", "aktion", "vorgang"}},
	{"wcu", []string{"wcu", "writeunits", "consumedwcu", "writecapacityunits", "consumedwritecapacityunits"}},
	{"rcu", []string{"rcu", "readunits", "consumedrcu", "readcapacityunits", "consumedreadcapacityunits"}},
	{"bytes", []string{"bytes", "size", "itemsize", "sizebytes", "itembytes", "itemsizebytes", "sizeinbytes", "length", "größe", "größebytes"}},
	{"throttle", []string{"throttle", "throttled", "isthrottled", "wasthrottled", "gedrosselt"}},
}

// subjects are other people's names of keys, by the subject of the key. One alone is
// likely the key; several leave it open.
var subjects = map[string][]string{
	"pk": {"customer", "customerid", "user", "userid", "tenant", "tenantid", "device", "deviceid", "account", "accountid", "kunde", "kundennummer"},
	"sk": {"order", "orderid", "ordernumber", "event", "eventid", "item", "itemid", "product", "productid", "invoice", "invoiceid", "auftrag", "bestellung"},
}

// hasUnits reports whether a field may be read or write units, which replace the
// operation.
func (n Names) hasUnits() bool {
	for _, s := range synonyms {
		if (s.field == "wcu" || s.field == "rcu") && n.similarName(s.names, nil) != "" {
			return true
		}
	}
	return false
}

// plain returns a name in lower case and without word separators.
func plain(name string) string { return joints.Replace(strings.ToLower(name)) }

var joints = strings.NewReplacer("_", "", "-", "", " ", "", "@", "", ".", "", "/", "", "(", "", ")", "", "[", "", "]", "")

// guesses returns the field that is likely each one of a sample, as far as names tell it.
func (n Names) guesses() map[string]string {
	all := make(map[string]string)
	taken := make(map[string]bool)
	for _, s := range synonyms {
		from := n.similarName(s.names, taken)
		if from == "" {
			from = n.singleName(subjects[s.field], taken)
		}
		if s.field == "pk" && from == "" {
			from = n.singleName(subjects["sk"], taken)
		}
		if from != "" {
			taken[from], all[s.field] = true, from
		}
	}
	return all
}

// suggest returns a --map that makes samples of lines with these fields, as far as names
// show it, to be copied as it stands: fields without a likely name are in capitals, for a
// person to fill in. fits is the number of time, key, and operation or units that it
// found.
func (n Names) suggest() (text string, fits int) {
	found := n.guesses()
	for _, field := range []string{"ts", "pk"} {
		if found[field] != "" {
			fits++
		}
	}
	units := n.hasUnits()
	if found["op"] != "" || units {
		fits++
	}
	var parts []string
	for _, s := range synonyms {
		switch from := found[s.field]; {
		case from == s.field: // it has its name already
		case from != "":
			parts = append(parts, s.field+"="+wording.Printable(mapped.Quote(from)))
		case s.field == "table":
			parts = append(parts, "table=const:NAME")
		case s.field == "ts" || s.field == "pk":
			parts = append(parts, s.field+"=FIELD")
		case s.field == "op" && !units:
			parts = append(parts, "op=const:OPERATION")
		}
	}
	return "--map " + shellQuote(strings.Join(parts, ",")), fits
}

func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// similarName returns the field whose last part is one of the names, the likeliest; empty
// for none.
func (n Names) similarName(names []string, taken map[string]bool) string {
	for _, name := range names {
		for _, field := range n {
			last := field[strings.LastIndexByte(field, '.')+1:]
			if !taken[field] && (plain(last) == name || plain(field) == name) {
				return field
			}
		}
	}
	return ""
}

// singleName returns the one field that matches the names; empty for none or several.
func (n Names) singleName(names []string, taken map[string]bool) string {
	found := n.similarName(names, taken)
	if found == "" {
		return ""
	}
	without := slices.DeleteFunc(slices.Clone(n), func(field string) bool { return field == found })
	if without.similarName(names, taken) != "" {
		return ""
	}
	return found
}
