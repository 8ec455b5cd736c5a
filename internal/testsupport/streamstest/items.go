package streamstest

import (
	"strings"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// itemRequest is what the writes of single items ask. Conditions and answers
// with the item are refused: who needs them wants a whole DynamoDB.
type itemRequest struct {
	TableName                 string
	Item, Key                 model.Item
	UpdateExpression          string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]model.Value
	ConditionExpression       string
	ReturnValues              string
}

func (f *Fake) itemTable(in itemRequest, call *Call) (*Table, error) {
	if in.ConditionExpression != "" || in.ReturnValues != "" && in.ReturnValues != "NONE" {
		return nil, refuse(codeInvalid, "the fake knows neither conditions nor ReturnValues")
	}
	return f.named(in.TableName, call)
}

func (f *Fake) servePut(in itemRequest, call *Call) (any, error) {
	t, err := f.itemTable(in, call)
	if err != nil {
		return nil, err
	}
	return done(t.put(f.now(), in.Item))
}

// done is the answer to a write: empty, or the refusal.
func done(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

func (f *Fake) serveDelete(in itemRequest, call *Call) (any, error) {
	t, err := f.itemTable(in, call)
	if err != nil {
		return nil, err
	}
	key, err := t.keyOf(in.Key.Normal())
	if err != nil {
		return nil, err
	}
	return done(t.write(f.now(), key, nil, false))
}

func (f *Fake) serveUpdate(in itemRequest, call *Call) (any, error) {
	t, err := f.itemTable(in, call)
	if err != nil {
		return nil, err
	}
	set, remove, err := in.changes()
	if err != nil {
		return nil, err
	}
	return done(t.update(in.Key.Normal(), set.Normal(), remove))
}

// changes reads an update expression of SET name = :value and REMOVE name, the
// only clauses that the fake knows. Without an expression nothing changes.
func (in itemRequest) changes() (set model.Item, remove []string, err error) {
	set = model.Item{}
	words := strings.Fields(strings.NewReplacer(",", " ", "=", " = ").Replace(in.UpdateExpression))
	for verb := ""; len(words) > 0; {
		switch word := strings.ToUpper(words[0]); {
		case word == "SET" || word == "REMOVE":
			verb, words = word, words[1:]
		case verb == "REMOVE":
			remove = append(remove, in.attribute(words[0]))
			words = words[1:]
		case verb == "SET" && len(words) >= 3 && words[1] == "=":
			v, ok := in.ExpressionAttributeValues[words[2]]
			if !ok {
				return nil, nil, refuse(codeInvalid, "Invalid UpdateExpression: %s is no value that was given", words[2])
			}
			set[in.attribute(words[0])] = v
			words = words[3:]
		default:
			return nil, nil, refuse(codeInvalid, "Invalid UpdateExpression: the fake knows SET name = :value and REMOVE name, not %q", in.UpdateExpression)
		}
	}
	return set, remove, nil
}

// attribute is the name that a word of an expression stands for.
func (in itemRequest) attribute(word string) string {
	if name, ok := in.ExpressionAttributeNames[word]; ok {
		return name
	}
	return word
}
