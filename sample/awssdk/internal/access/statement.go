package access

import (
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// statement adds the access of a PartiQL statement as far as its text shows it. It does not
// parse the whole grammar: it finds the table behind FROM, INTO, UPDATE or DELETE FROM, and the
// attributes of equalities or of the new item. With an OR, an IN or another shape, the key
// counts as not readable.
func (v *Reader) statement(text *string, parameters []types.AttributeValue, strong *bool, transactional bool) {
	s := readStatement(aws.ToString(text), parameters)
	t := Access{Table: s.table, Write: s.write, Transactional: transactional, Consistency: consistency(strong)}
	t.Index = v.readIndex(s.table, &s.index)
	ok := s.ok
	if ok {
		t.PK, t.SK, ok = v.fromEqual(s.table, s.index, s.equal)
	}
	if !ok {
		v.NotReadable++
		t.Unreadable = true
	}
	if transactional && !t.Write {
		t.Consistency = sample.Transactional
	}
	t.After = s.inserted
	v.add(t)
}

// parsedStatement holds the readable parts of a PartiQL statement.
type parsedStatement struct {
	table, index string
	write        bool
	equal        Item // attribute = value
	inserted     Item // item of an INSERT
	ok           bool // equal has all attributes that can be the key
}

func readStatement(text string, parameters []types.AttributeValue) parsedStatement {
	w := statementWords(text)
	var s parsedStatement
	for i, word := range w {
		switch strings.ToUpper(word) {
		case "FROM", "INTO", "UPDATE":
			if s.table == "" && i+1 < len(w) {
				s.table = unquote(w[i+1])
				if i+3 < len(w) && w[i+2] == "." {
					s.index = unquote(w[i+3])
				}
			}
		}
	}
	if len(w) == 0 || s.table == "" {
		return s
	}
	first := strings.ToUpper(w[0])
	s.write = first != "SELECT"
	if first == "INSERT" {
		s.equal, s.ok = pairs(w, parameters, "VALUE", ":")
		if s.ok {
			s.inserted = s.equal
		}
		return s
	}
	s.equal, s.ok = pairs(w, parameters, "WHERE", "=")
	return s
}

// pairs returns the "name = value" pairs behind a keyword, for either sign. It returns false
// after an OR, a NOT or an IN, because an equality then need not hold. It skips names inside of
// other attributes.
func pairs(w []string, parameters []types.AttributeValue, keyword, sign string) (Item, bool) {
	found := Item{}
	inside, parameter, depth := false, 0, 0
	for i, word := range w {
		upper := strings.ToUpper(word)
		switch {
		case upper == keyword:
			inside = true
		case inside && (upper == "OR" || upper == "NOT" || upper == "IN"):
			return nil, false
		case word == "{" || word == "[":
			depth++
		case word == "}" || word == "]":
			depth--
		case inside && word == sign && depth <= 1 && i+1 < len(w) && (i < 2 || w[i-2] != "."):
			if value := literal(w[i+1], parameters, parameter); value != nil {
				found[unquote(w[i-1])] = value
			}
		}
		if word == "?" {
			parameter++
		}
	}
	return found, len(found) > 0
}

// literal returns a parameter, a string or a number, or nil for another word.
func literal(word string, parameters []types.AttributeValue, next int) types.AttributeValue {
	switch c := word[0]; {
	case word == "?":
		if next < len(parameters) {
			return parameters[next]
		}
	case c == '\'':
		return &types.AttributeValueMemberS{Value: unquote(word)}
	case c >= '0' && c <= '9' || c == '-':
		return &types.AttributeValueMemberN{Value: word}
	}
	return nil
}

// unquote removes the quotes of a name or a string.
func unquote(word string) string {
	if n := len(word); n >= 2 && (word[0] == '\'' || word[0] == '"') {
		quote := word[:1]
		return strings.ReplaceAll(word[1:n-1], quote+quote, quote)
	}
	return word
}

// statementWord matches a quoted word (with doubled quotes inside, perhaps without its end), a
// number, a name, a comparison other than equality, or a single sign.
var statementWord = regexp.MustCompile(`(?s)'(?:[^']|'')*'?|"(?:[^"]|"")*"?` +
	`|[0-9-][^ \t\r\n'"=<>,?:()\[\]{}]*|[^ \t\r\n'"=<>,.?:()\[\]{}]+|[<>][=>]|[^ \t\r\n]`)

// statementWords splits a statement into names, strings, numbers and signs.
func statementWords(text string) []string {
	return statementWord.FindAllString(strings.TrimSpace(text), -1)
}
