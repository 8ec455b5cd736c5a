package change

import "github.com/keyheat/keyheat/sample"

// What an item's size is made of beside its names and texts, in bytes. Source:
// Developer Guide, "DynamoDB item sizes and formats".
const (
	// wordSize is a boolean's, and a null's.
	wordSize = 1
	// documentSize is what a list or a map has before its contents.
	documentSize = 3
	// elementSize is what each element of a list or a map adds to its own.
	elementSize = 1
)

// Size returns the item's size in bytes, by which DynamoDB charges: of each
// attribute its name in UTF-8 and its value. It lacks the 100 bytes an item
// that are the storage bill's only. A nil Item has none.
func (i Item) Size() int64 {
	var size int64
	for name, v := range i {
		size += int64(len(name)) + v.Size()
	}
	return size
}

// Size returns the value's size in bytes, without its name.
func (v Value) Size() int64 {
	switch v.Type {
	case String, Binary:
		return int64(len(v.Text))
	case Number:
		return sample.NumberSize(v.Text)
	case Bool, Null:
		return wordSize
	case List:
		return documentSize + elementSize*int64(len(v.Elements)) + v.contents()
	case Map:
		return documentSize + elementSize*int64(len(v.Members)) + v.Members.Size()
	}
	return v.contents()
}

func (v Value) contents() int64 {
	var size int64
	for _, e := range v.Elements {
		size += e.Size()
	}
	return size
}
