package change

import "github.com/keyheat/keyheat/sample"

// Sizes in bytes of an item's parts, beside names and texts. Source: Developer Guide, "DynamoDB
// item sizes and formats".
const (
	// wordSize is the size of a boolean or a null.
	wordSize = 1
	// documentSize is the size of an empty list or map.
	documentSize = 3
	// elementSize is the overhead of each element of a list or map.
	elementSize = 1
)

// Size returns the item's size in bytes, as DynamoDB charges reads and writes: each attribute's
// name in UTF-8 and its value. It excludes the 100 bytes an item that only storage is charged
// for. The size of a nil Item is 0.
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
